import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { AntwayError } from '../../errors.ts';
import { NodePeer } from '../../node-peer/node-peer.ts';
import { loadBlake3 } from '../../self-encryption/blake3.ts';
import { writeAtomically } from '../atomic-file.ts';
import { gatewayFiles } from '../built-files.ts';
import type { CommandContext } from '../context.ts';
import { formatBytes, plural } from '../format.ts';
import { loopbackAddresses, portFrom } from '../listen-port.ts';
import { ignoreOption, nameFrom, type OutputOptions, withOutput } from '../options.ts';
import { Output } from '../output.ts';
import { ServedFolder } from '../served-folder.ts';
import { watchFolder } from '../watch-folder.ts';

interface ServeOptions extends OutputOptions {
  port?: number;
  name: string;
  ignore?: string[];
  web?: string;
  watch: boolean;
}

const preferredPort = 8080;

export function define(command: Command, context: CommandContext): void {
  withOutput(command)
    .argument('<folder>', 'the site, or a file')
    .option('--port <port>', `the port (default: ${preferredPort}, or any free port)`, portFrom)
    .option('--name <name>', 'the name of the site in the gateway', nameFrom, 'site')
    .addOption(ignoreOption())
    .option('--web <folder>', 'the built gateway (default: the one of this command)')
    .option('--no-watch', 'do not publish again when a file changes')
    .addHelpText(
      'after',
      `
Publishes the folder into memory and serves it with the gateway, as visitors will get it: each version has an address
and an origin of its own. Nothing is stored. For one stable URL that reloads by itself, use: antway dev`,
    )
    .action((folder: string, options: ServeOptions) => serve(folder, options, context));
}

async function serve(path: string, options: ServeOptions, { signal }: CommandContext): Promise<void> {
  const output = new Output(options);
  const web = gatewayFiles(options.web);
  const folder = new ServedFolder(path, options.ignore ?? [], output);
  await folder.publish(signal);
  const temporary = await mkdtemp(join(tmpdir(), 'antway-serve-'));
  let peer: NodePeer | undefined;
  try {
    const config = join(temporary, 'antway.json');
    await writeConfig(config, folder, options.name);
    const listen = await loopbackAddresses(options.port, preferredPort);
    peer = await NodePeer.start({
      listen,
      store: folder.store,
      blake3: await loadBlake3(),
      write: 'none',
      web: { folder: web, config },
      version: packageJson.version,
    }).catch((error) => {
      throw listenError(error, listen);
    });
    const origin = `http://antway.localhost:${new URL(peer.url).port}`;
    announce(folder, origin, options, output);
    if (!options.watch) return await ended(signal);
    await watchFolder(
      path,
      async () => {
        if (!(await folder.update(signal))) return;
        await writeConfig(config, folder, options.name);
        announce(folder, origin, options, output);
      },
      signal,
    );
  } finally {
    await peer?.close();
    await rm(temporary, { recursive: true, force: true });
  }
}

async function writeConfig(file: string, { current }: ServedFolder, name: string): Promise<void> {
  const config = { peers: ['/'], names: { [name]: current!.address.hex } };
  await writeAtomically(file, [new TextEncoder().encode(JSON.stringify(config))]);
}

function announce({ current }: ServedFolder, origin: string, { name }: ServeOptions, output: Output): void {
  const { address, files, size } = current!;
  const url = `${origin}/${address.hex}/`;
  output.json({
    event: 'serving',
    address: address.hex,
    url,
    named: `${origin}/${name}/`,
    gateway: origin,
    files,
    size,
  });
  output.note(`Serving ${plural(files, 'file')}, ${formatBytes(size)}. Gateway: ${origin}/  Ctrl-C ends it.`);
  output.line(url);
}

/** @throws AntwayError `REFUSED` if the address is taken. */
export function listenError(error: unknown, listen: readonly string[]): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== 'listen') return error;
  const message = `${listen.join(' and ')}: ${(error as Error).message}. Choose another port with --port.`;
  return new AntwayError('REFUSED', message, { reason: code }, { cause: error });
}

/** Resolves when the signal aborts. */
export function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
