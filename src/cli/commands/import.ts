import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { importSite, type ImportOptions as SiteImportOptions } from '../../library/site-file.ts';
import { FolderPeerStore } from '../../node-peer/folder-store.ts';
import { HttpWriter } from '../../peers/transports/http-writer.ts';
import { type ChunkSink, uploadTo } from '../../publish/upload.ts';
import { loadBlake3 } from '../../self-encryption/blake3.ts';
import { chunkFolderSink } from '../chunk-folder.ts';
import type { CommandContext } from '../context.ts';
import { fileError } from '../disk-file.ts';
import { formatBytes, plural } from '../format.ts';
import { type OutputOptions, type WriteOptions, withOutput, withWrites } from '../options.ts';
import { Output } from '../output.ts';
import { loadSettings, writablePeers } from '../settings.ts';
import { requirePeers } from '../silent-peers.ts';
import { UsageError } from '../usage-error.ts';

interface ImportOptions extends WriteOptions, OutputOptions {
  store?: string;
  out?: string;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withWrites(command))
    .argument('<file>', 'a file that the app or “antway export” wrote; “-” is standard input')
    .option(
      '--store <folder>',
      'store the chunks in this folder, in the layout of a peer, instead of uploading',
    )
    .option(
      '--out <folder>',
      'write the chunks into a folder, each named by its address, instead of uploading',
    )
    .addHelpText(
      'after',
      '\nVerifies every chunk. Wrong parts are named and left out; then the command ends with code 5.',
    )
    .action((file: string, options: ImportOptions) => importFile(file, options, context));
}

async function importFile(
  file: string,
  options: ImportOptions,
  { env, signal }: CommandContext,
): Promise<void> {
  const output = new Output(options);
  const places = [options.store, options.out, options.peer].filter((place) => place !== undefined);
  if (places.length > 1) throw new UsageError('Give only one of --store, --out and --peer.');
  const { sink, peers } = await sinkOf(options, env, output, signal);
  let manifest: Uint8Array | undefined;
  let site: Address | undefined;
  const imported = await importSite(
    await open(file),
    async (address) => {
      site = address;
    },
    {
      store: storeFor(sink, signal),
      manifests: {
        add: async (bytes) => {
          manifest = bytes;
          return { id: site!.hex };
        },
      },
    },
  );
  signal.throwIfAborted();
  const { address, chunks, bytes, refused } = imported;
  for (const { name, reason } of refused) output.note(`Left out: ${name} (${reason})`);
  // No peer has the manifest of private content, so its address alone opens nothing.
  const link = manifest && `ant://manifest/${Buffer.from(manifest).toString('base64url')}`;
  const url = peers[0] && !link ? `${peers[0]}/${address}/` : undefined;
  output.json({ address, ...(link && { link }), ...(url && { url }), chunks, bytes, refused });
  output.note(`Imported ${plural(chunks, 'chunk')}, ${formatBytes(bytes)}.`);
  output.line(link ?? address);
  if (url) output.line(url);
  if (refused.length === 0) return;
  throw new AntwayError('CORRUPT', `${plural(refused.length, 'part')} of the file could not be used.`);
}

async function sinkOf(
  options: ImportOptions,
  env: NodeJS.ProcessEnv,
  output: Output,
  signal: AbortSignal,
): Promise<{ sink: ChunkSink; peers: string[] }> {
  const { store, out } = options;
  if (out !== undefined) return { sink: await chunkFolderSink(out), peers: [] };
  if (store !== undefined) {
    const folder = await FolderPeerStore.open(store, await loadBlake3()).catch((error) => {
      throw fileError(error, store);
    });
    return { sink: storeSink(folder, store), peers: [] };
  }
  const settings = await loadSettings(options, env);
  const peers = writablePeers(settings);
  await requirePeers(peers, signal, output.isSilent);
  const { token } = settings;
  const transports = peers.map((peer) => new HttpWriter(peer));
  return {
    sink: uploadTo(transports, token === undefined ? {} : { token }),
    peers: peers.map(({ origin }) => origin),
  };
}

function storeSink(folder: FolderPeerStore, path: string): ChunkSink {
  return {
    async store({ address, bytes }) {
      const outcome = await folder.write(address, bytes);
      if (outcome === 'full') throw new AntwayError('TOO_LARGE', `The disk has no room for “${path}”.`);
      return outcome;
    },
  };
}

/** A sink as the store that an import writes to. A batch of chunks is uploaded at the same time. */
function storeFor(sink: ChunkSink, signal: AbortSignal): SiteImportOptions['store'] {
  const writes = new Map<string, Promise<unknown>>();
  return {
    addPinReferences: async () => true,
    sizes: async () => new Map(),
    async put({ address, bytes }) {
      const write = sink.store({ address, bytes }, signal);
      // `written` reports the failure.
      write.catch(() => undefined);
      writes.set(address.hex, write);
    },
    async written({ hex }) {
      await writes.get(hex);
      writes.delete(hex);
      return 'stored';
    },
  };
}

async function open(file: string): Promise<ReadableStream<Uint8Array>> {
  if (file !== '-') {
    await stat(file).catch((error) => {
      throw fileError(error, file);
    });
  }
  const stream = file === '-' ? process.stdin : createReadStream(file);
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>;
}
