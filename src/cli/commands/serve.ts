import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { AntwayError } from '../../errors.ts';
import { NodePeer } from '../../node-peer/node-peer.ts';
import { loadBlake3 } from '../../self-encryption/blake3.ts';
import { aborted } from '../../util/aborted.ts';
import { writeAtomically } from '../atomic-file.ts';
import { gatewayFiles } from '../built-files.ts';
import type { CommandContext } from '../context.ts';
import { formatBytes, plural } from '../format.ts';
import { installedPeer } from '../installed-peer.ts';
import { loopbackAddresses, portFrom } from '../listen-port.ts';
import { ignoreOption, nameFrom, type OutputOptions, withOutput } from '../options.ts';
import { Output } from '../output.ts';
import { RustFront, type RustFrontOptions } from '../rust-front.ts';
import { ServedFolder } from '../served-folder.ts';
import { SetupError } from '../setup-error.mjs';
import { watchFolder } from '../watch-folder.ts';

interface ServeOptions extends OutputOptions {
  port?: number;
  name: string;
  ignore?: string[];
  web?: string;
  peer?: 'node' | 'rust';
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
    .addOption(
      new Option(
        '--peer <kind>',
        'the peer that serves (default: the one in Rust if its package is installed)',
      ).choices(['node', 'rust']),
    )
    .option('--no-watch', 'do not publish again when a file changes')
    .addHelpText(
      'after',
      `
Publishes the folder into memory and serves it with the gateway, as visitors will get it: each version has an address
and an origin of its own. Nothing stays when the command ends. For one stable URL that reloads by itself, use: antway dev`,
    )
    .action((folder: string, options: ServeOptions) => serve(folder, options, context));
}

async function serve(path: string, options: ServeOptions, { signal }: CommandContext): Promise<void> {
  const output = new Output(options);
  const web = gatewayFiles(options.web);
  const program = rustProgram(options, output);
  const folder = new ServedFolder(path, options.ignore ?? [], output);
  await folder.publish(signal);
  const temporary = await mkdtemp(join(tmpdir(), 'antway-serve-'));
  let peer: NodePeer | undefined;
  let front: RustFront | undefined;
  try {
    const config = join(temporary, 'antway.json');
    await writeConfig(config, folder, options.name);
    const listen = await loopbackAddresses(options.port, preferredPort);
    const content = { store: folder.store, blake3: await loadBlake3(), version: packageJson.version };
    const hosted = { listen, ...content, web: { folder: web, config } };
    peer = await NodePeer.start({ ...hosted, write: 'none' }).catch((error) => {
      throw listenError(error, listen);
    });
    if (program !== undefined) {
      front = await startFront({ ...hosted, program, peer, folder: temporary }, options, output);
    }
    const origin = `http://antway.localhost:${new URL(peer.url).port}`;
    announce(folder, origin, options, output);
    if (!options.watch) return await aborted(signal);
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
    await front?.close();
    await peer?.close();
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The program of the peer in Rust, if it is wanted and installed. @throws AntwayError `NOT_FOUND` */
function rustProgram({ peer }: ServeOptions, output: Output): string | undefined {
  if (peer === 'node') return undefined;
  const found = installedPeer();
  if (found && 'program' in found) return found.program;
  const problem = found?.problem ?? 'No package with a peer in Rust for this system is installed.';
  if (peer === 'rust') throw new AntwayError('NOT_FOUND', problem);
  if (found) output.note(`${problem} A peer in Node serves, by HTTP.`);
  return undefined;
}

/** @throws AntwayError `INTERNAL` if the peer in Rust does not start and the user asked for it. */
async function startFront(
  started: Omit<RustFrontOptions, 'onEnd'>,
  { peer }: ServeOptions,
  output: Output,
): Promise<RustFront | undefined> {
  const onEnd = (reason: string) =>
    output.note(`The peer in Rust ended unexpectedly (${reason}). The peer in Node serves.`);
  try {
    return await RustFront.start({ ...started, onEnd });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    const message = 'The peer in Rust did not start; it says why above.';
    if (peer === 'rust') throw new AntwayError('INTERNAL', message, {}, { cause: error });
    output.note(`${message} A peer in Node serves, by HTTP.`);
    return undefined;
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
  output.note(
    `Serving ${plural(files, 'file')}, ${formatBytes(size)}. Gateway: ${origin}/  Press Ctrl-C to stop.`,
  );
  output.line(url);
}

/** @throws AntwayError `REFUSED` if the address is taken. */
export function listenError(error: unknown, listen: readonly string[]): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== 'listen') return error;
  const message = `${listen.join(' and ')}: ${(error as Error).message}. Choose another port with --port.`;
  return new AntwayError('REFUSED', message, { reason: code }, { cause: error });
}
