import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { PeerUrl } from '../../peer-url.ts';
import { HttpWriter } from '../../peers/transports/http-writer.ts';
import type { S3Target } from '../../publish/s3-target.ts';
import { type ChunkSink, uploadTo } from '../../publish/upload.ts';
import { chunkFolderSink } from '../chunk-folder.ts';
import type { CommandContext } from '../context.ts';
import { formatBytes, plural } from '../format.ts';
import { type NetworkOptions, networkOptions, requireNetworkFor } from '../network-payment.ts';
import { isObjectStore, objectStoreAt } from '../object-store.ts';
import { openKey } from '../open-key.ts';
import {
  collect,
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
import { type CommandSettings, loadSettings, writablePeers } from '../settings.ts';
import { signOption, signPublication } from '../sign-publication.ts';
import { requirePeers } from '../silent-peers.ts';
import { UsageError } from '../usage-error.ts';

interface PublishOptions extends WriteOptions, OutputOptions, NetworkOptions {
  out?: string;
  to?: string[];
  gateway?: string;
  ignore?: string[];
  filename?: string;
  sign?: string;
}

export function define(command: Command, context: CommandContext): void {
  const all = withOutput(withWrites(command))
    .argument('<path>', 'a file or folder; “-” is standard input')
    .option(
      '--out <folder>',
      'write the chunks into a folder, each named by its address, instead of uploading',
    )
    .option(
      '--to <url>',
      'store the chunks in an object store, s3://bucket/prefix, instead of uploading; may be given more than once',
      collect,
    )
    .option(
      '--gateway <url>',
      'the gateway of the printed URL (default: ANTWAY_GATEWAY, or the first peer)',
      originFrom,
    )
    .addOption(ignoreOption())
    .addOption(signOption())
    .option('--filename <name>', 'the name in the printed URL of standard input')
    .addHelpText(
      'after',
      `
A folder is published as a tarchive, with everything in it: hidden files too, and links to files inside of it.
Left out, and said so: .git, empty folders, what is neither file nor folder, and what --ignore matches.

With --sign, each file gets a signature that readers can check, and the folder a file archive.tar.key with the public
key. The passphrase is ANTWAY_KEY_PASSPHRASE, or is typed at the terminal. AntTP 0.26 cannot open signed files.

For --to, the environment has AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, unless the store is Amazon’s,
AWS_ENDPOINT_URL. A peer with --upstream s3://bucket/prefix serves what is there.

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
  const { network } = options;
  const place = placeOf(options);
  if (!network) requireNetworkFor(options);
  const stores = (options.to ?? []).map((to) => storeAt(to, env));
  const output = new Output(options);
  const settings = await loadSettings(options, env);
  const peers = place === 'peers' || place === 'network' ? writablePeers(settings) : [];
  const found = await publicationAt(path, options.ignore ?? [], output);
  const named =
    found.kind === 'file' && options.filename !== undefined
      ? { ...found, filename: options.filename }
      : found;
  const key = options.sign === undefined ? undefined : await openKey(options.sign, context);
  const publication = key ? await signPublication(named, key, output, signal) : named;
  const encrypt = (sink: ChunkSink) => publishTo(sink, publication, output, signal);
  const published = network
    ? await publishToNetwork(encrypt, options, peers.map(String), output, context)
    : await encrypt(await sinkOf(options.out, stores, peers, settings, output, signal));
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
    ...aboutPlace(place, options, peers),
    leftOut,
    ...(key && { signer: key.address.hex }),
  });
  const what =
    publication.kind === 'folder'
      ? `${plural(files, 'file')}, an archive of ${formatBytes(size)},`
      : formatBytes(size);
  const known = presentChunks ? `, ${presentChunks} of them already there` : '';
  output.note(
    `Published ${what} as ${plural(chunks, 'chunk')}${known}; ${formatBytes(uploadedBytes)} written to ${nameOf(place, options, peers)}.`,
  );
  output.line(address.hex);
  if (url) output.line(url);
}

type Place = 'out' | 'to' | 'network' | 'peers';

/** Where the chunks go. @throws UsageError if two options name a place. */
function placeOf({ out, to, network, peer }: PublishOptions): Place {
  const places: Place[] = [];
  if (out !== undefined) places.push('out');
  if (to) places.push('to');
  if (network) places.push('network');
  else if (peer) places.push('peers');
  if (places.length < 2) return places[0] ?? 'peers';
  const [first, second] = places.map((place) => (place === 'peers' ? '--peer' : `--${place}`));
  throw new UsageError(`Give ${first} or ${second}, not both.`);
}

function storeAt(text: string, env: NodeJS.ProcessEnv): S3Target {
  if (isObjectStore(text)) return objectStoreAt(text, env);
  throw new UsageError('--to is an object store, s3://bucket/prefix. --peer names a peer.');
}

function aboutPlace(place: Place, { out, to, network }: PublishOptions, peers: readonly PeerUrl[]): object {
  switch (place) {
    case 'out':
      return { out };
    case 'to':
      return { to };
    case 'network':
      return { network };
    case 'peers':
      return { peers: peers.map(String) };
  }
}

function nameOf(place: Place, { out, to = [] }: PublishOptions, peers: readonly PeerUrl[]): string {
  switch (place) {
    case 'out':
      return out!;
    case 'network':
      return 'the network';
    default:
      return (place === 'to' ? to : peers).join(' and ');
  }
}

async function sinkOf(
  out: string | undefined,
  stores: readonly S3Target[],
  peers: readonly PeerUrl[],
  { token }: CommandSettings,
  output: Output,
  signal: AbortSignal,
): Promise<ChunkSink> {
  if (out !== undefined) return chunkFolderSink(out);
  if (stores.length > 0) return uploadTo(stores);
  await requirePeers(peers, signal, output.isSilent);
  return uploadTo(
    peers.map((peer) => new HttpWriter(peer)),
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
