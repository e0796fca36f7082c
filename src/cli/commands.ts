import type { Command } from 'commander';
import type { CommandContext } from './context.ts';

export interface SubCommand {
  /** Adds arguments, options, help and the action. */
  define(command: Command, context: CommandContext): void;
}

interface Entry {
  summary: string;
  load(): Promise<SubCommand>;
}

/** All sub-commands, in the order of the help. Each is loaded only when it runs. */
export const commands: Readonly<Record<string, Entry>> = {
  publish: {
    summary: 'encrypt a file or folder, upload its chunks, and print the address',
    load: () => import('./commands/publish.ts'),
  },
  get: {
    summary: 'fetch, verify and write files or folders',
    load: () => import('./commands/get.ts'),
  },
  ls: {
    summary: 'list a folder of an archive',
    load: () => import('./commands/ls.ts'),
  },
  cat: {
    summary: 'write files to standard output, one after the other',
    load: () => import('./commands/cat.ts'),
  },
  serve: {
    summary: 'serve a folder with a gateway on this machine, and publish it again when it changes',
    load: () => import('./commands/serve.ts'),
  },
  dev: {
    summary: 'serve a folder at one stable URL that reloads in the browser when it changes',
    load: () => import('./commands/dev.ts'),
  },
  init: {
    summary: 'copy the files into a site that make ant:// work in its pages',
    load: () => import('./commands/init.ts'),
  },
  pin: {
    summary: 'store all chunks of some content in a folder, or let peers hold them',
    load: () => import('./commands/pin.ts'),
  },
  export: {
    summary: 'write some content to one file, which the app can import',
    load: () => import('./commands/export.ts'),
  },
  import: {
    summary: 'upload or store the content of an exported file',
    load: () => import('./commands/import.ts'),
  },
  verify: {
    summary: 'verify all chunks of some content at each peer, or the build of a gateway’s host',
    load: () => import('./commands/verify.ts'),
  },
  peers: {
    summary: 'test peers: latency, protocol, connection to the network',
    load: () => import('./commands/peers.ts'),
  },
  doctor: {
    summary: 'check Node, configuration, peers, ports and stored data',
    load: () => import('./commands/doctor.ts'),
  },
  cost: {
    summary: 'count the chunks and bytes that publishing would store',
    load: () => import('./commands/cost.ts'),
  },
  deploy: {
    summary: 'publish a site, verify it at each peer, and update its name in antway.json',
    load: () => import('./commands/deploy.ts'),
  },
  pointer: {
    summary: 'give content an address that stays while the content changes',
    load: () => import('./commands/pointer.ts'),
  },
  names: {
    summary: 'show a list of names, or check one before it is published',
    load: () => import('./commands/names.ts'),
  },
  completion: {
    summary: 'print a script that completes commands and options in a shell',
    load: () => import('./commands/completion.ts'),
  },
  peer: {
    summary: 'serve the chunks of a folder to programs of this machine',
    load: () => import('./commands/peer.ts'),
  },
};
