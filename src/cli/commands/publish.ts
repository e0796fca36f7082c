import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { PeerUrl } from '../../peer-url.ts';
import { HttpTransport } from '../../peers/transports/http.ts';
import { type ChunkSink, uploadTo } from '../../publish/upload.ts';
import { chunkFolderSink } from '../chunk-folder.ts';
import type { CommandContext } from '../context.ts';
import { formatBytes, plural } from '../format.ts';
import { type NetworkOptions, networkOptions, requireNetworkFor } from '../network-payment.ts';
import {
  ignoreOption,
  type OutputOptions,
  originFrom,
  type WriteOptions,
  withOutput,
  withWrites,
} from '../options.ts';
import { Output } from '../output.ts';
import { publicationAt, publishTo, summaryOf, urlPathOf } from '../publish-path.ts';
import { publishToNetwork } from '../publish-to-network.ts';
import { loadSettings, type Settings, writablePeers } from '../settings.ts';
import { requirePeers } from '../silent-peers.ts';
import { UsageError } from '../usage-error.ts';

interface PublishOptions extends WriteOptions, OutputOptions, NetworkOptions {
  out?: string;
  gateway?: string;
  ignore?: string[];
  filename?: string;
}

export function define(command: Command, context: CommandContext): void {
  const all = withOutput(withWrites(command))
    .argument('<path>', 'a file or folder; “-” is standard input')
    .option(
      '--out <folder>',
      'write the chunks into a folder, each named by its address, instead of uploading',
    )
    .option(
      '--gateway <url>',
      'the gateway of the printed URL (default: ANTWAY_GATEWAY, or the first peer)',
      originFrom,
    )
    .addOption(ignoreOption())
    .option('--filename <name>', 'the name in the printed URL of standard input')
    .addHelpText(
      'after',
      `
A folder is published as a tarchive, with everything in it: hidden files too, and links to files inside of it.
Left out, and said so: .git, empty folders, what is neither file nor folder, and what --ignore matches.

With --network, the account pays with ANT, and needs some ether for the fees. The price is shown before. A run that was
interrupted continues where it ended: nothing is paid twice.`,
    )
    .action((path: string, options: PublishOptions) =>
      path === '-' ? publishInput(options, context) : publish(path, options, context),
    );
  for (const option of networkOptions) all.addOption(option);
}

/** Self-encryption reads a file twice, so standard input becomes a temporary file. */
async function publishInput(options: PublishOptions, context: CommandContext): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'antway-'));
  try {
    const file = join(folder, 'input');
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }), { signal: context.signal });
    await publish(file, { filename: '', ...options }, context);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function publish(path: string, options: PublishOptions, context: CommandContext): Promise<void> {
  const { env, signal } = context;
  const { out, network } = options;
  if (network && out !== undefined) throw new UsageError('Give --out or --network, not both.');
  if (!network) requireNetworkFor(options);
  if (out !== undefined && options.peer) throw new UsageError('Give --out or --peer, not both.');
  const output = new Output(options);
  const settings = await loadSettings(options, env);
  const peers = out === undefined ? writablePeers(settings) : [];
  const found = await publicationAt(path, options.ignore ?? [], output);
  const publication =
    found.kind === 'file' && options.filename !== undefined
      ? { ...found, filename: options.filename }
      : found;
  const encrypt = (sink: ChunkSink) => publishTo(sink, publication, output, signal);
  const published = network
    ? await publishToNetwork(encrypt, options, peers.map(String), output, context)
    : await encrypt(await sinkOf(out, peers, settings, output, signal));
  if (!published) return;

  const gateway = options.gateway ?? gatewayOf(env) ?? peers[0]?.origin;
  const url = gateway === undefined ? undefined : gateway + urlPathOf(published.address, publication);
  const { address, size, chunks, presentChunks, uploadedBytes } = published;
  const { files, leftOut } = summaryOf(publication);
  output.json({
    address: address.hex,
    ...(url ? { url } : {}),
    size,
    files,
    chunks,
    presentChunks,
    uploadedBytes,
    ...(network ? { network } : out === undefined ? { peers: peers.map(String) } : { out }),
    leftOut,
  });
  const what =
    publication.kind === 'folder' ? `${plural(files, 'file')}, ${formatBytes(size)}` : formatBytes(size);
  const known = presentChunks ? `, ${presentChunks} of them already there` : '';
  output.note(
    `Published ${what} as ${plural(chunks, 'chunk')}${known}; ${formatBytes(uploadedBytes)} written to ${network ? 'the network' : (out ?? peers.join(' and '))}.`,
  );
  output.line(address.hex);
  if (url) output.line(url);
}

async function sinkOf(
  out: string | undefined,
  peers: readonly PeerUrl[],
  { token }: Settings,
  output: Output,
  signal: AbortSignal,
): Promise<ChunkSink> {
  if (out !== undefined) return chunkFolderSink(out);
  await requirePeers(peers, signal, output.isSilent);
  return uploadTo(
    peers.map((peer) => new HttpTransport(peer)),
    token === undefined ? {} : { token },
  );
}

function gatewayOf({ ANTWAY_GATEWAY: value }: NodeJS.ProcessEnv): string | undefined {
  if (!value) return undefined;
  try {
    return originFrom(value);
  } catch (error) {
    throw new UsageError(`ANTWAY_GATEWAY is invalid: ${(error as Error).message}`);
  }
}
