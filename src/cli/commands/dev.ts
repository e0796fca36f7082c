import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { DevServer } from '../dev-server.ts';
import { formatBytes, plural } from '../format.ts';
import { isFree, portFrom } from '../listen-port.ts';
import { ignoreOption, type OutputOptions, withOutput } from '../options.ts';
import { Output } from '../output.ts';
import { ServedFolder } from '../served-folder.ts';
import { watchFolder } from '../watch-folder.ts';
import { listenError } from './serve.ts';

interface DevOptions extends OutputOptions {
  port?: number;
  ignore?: string[];
}

const preferredPort = 8081;

export function define(command: Command, context: CommandContext): void {
  withOutput(command)
    .argument('<folder>', 'the site')
    .option('--port <port>', `the port (default: ${preferredPort}, or any free port)`, portFrom)
    .addOption(ignoreOption())
    .addHelpText(
      'after',
      `
Serves the site alone, at one stable URL, and reloads open pages when a file changes. Types, routes, redirects and
policies are those of a gateway. There is no service worker, so links to other addresses (ant://) do not work here; to
try them, use: antway serve`,
    )
    .action((folder: string, options: DevOptions) => dev(folder, options, context));
}

async function dev(path: string, options: DevOptions, { signal }: CommandContext): Promise<void> {
  const output = new Output(options);
  const folder = new ServedFolder(path, options.ignore ?? [], output);
  await folder.publish(signal);
  const port = options.port ?? ((await isFree(preferredPort)) ? preferredPort : 0);
  const server = await DevServer.start(folder.store, folder.current!.address, port).catch((error) => {
    throw listenError(error, [`127.0.0.1:${port}`]);
  });
  const announce = (event: string) => {
    const { address, files, size } = folder.current!;
    output.json({ event, address: address.hex, url: `${server.url}/`, files, size });
    output.note(`${plural(files, 'file')}, ${formatBytes(size)}. Address: ${address.hex}`);
  };
  try {
    announce('serving');
    output.line(`${server.url}/`);
    await watchFolder(
      path,
      async () => {
        if (!(await folder.update(signal))) return;
        server.show(folder.current!.address);
        announce('changed');
      },
      signal,
    );
  } finally {
    await server.close();
  }
}
