import type { Command } from 'commander';
import { FolderPeerStore } from '../../node-peer/folder-store.ts';
import { HttpWriter } from '../../peers/transports/http-writer.ts';
import type { UploadTarget } from '../../peers/upload-target.ts';
import { uploadTo } from '../../publish/upload.ts';
import { loadBlake3 } from '../../self-encryption/blake3.ts';
import { checkChunks, printChecks, requireAllRight } from '../check-chunks.ts';
import type { CommandContext } from '../context.ts';
import { fileError } from '../disk-file.ts';
import { formatBytes, plural } from '../format.ts';
import { isObjectStore, objectStoreAt } from '../object-store.ts';
import { collect, type OutputOptions, peerFrom, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { showCount } from '../progress.ts';
import { type ReadOptions, readTarget } from '../read-target.ts';
import { loadSettings } from '../settings.ts';
import { UsageError } from '../usage-error.ts';
import { chunksOf, fetchAll, forEachInLanes, inventoryOf, storeOf } from '../whole-content.ts';

interface PinOptions extends ReadOptions, OutputOptions {
  store?: string;
  to?: string[];
  token?: string;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .argument('<content...>', 'addresses, links or names')
    .option(
      '--store <folder>',
      'store all chunks in this folder, in the layout of a peer (default: ANTWAY_STORE)',
    )
    .option(
      '--to <url>',
      'copy all chunks to this peer, or to an object store: s3://bucket/prefix; may be given more than once',
      collect,
    )
    .option('--token <token>', 'the write token of the peers of --to (default: ANTWAY_TOKEN)')
    .option(
      '--from <folder>',
      'read chunks from a folder that “publish --out” wrote, instead of asking peers',
    )
    .addHelpText(
      'after',
      `
Without --store and --to, asks every peer for every chunk: a peer that reads from other peers or from the network then
holds them until it needs the room. Run the command again to continue a pin that was interrupted.`,
    )
    .action(async (contents: string[], options: PinOptions) => {
      for (const content of contents) await pin(content, options, context);
    });
}

async function pin(content: string, options: PinOptions, context: CommandContext): Promise<void> {
  const { env, signal } = context;
  const output = new Output(options);
  const folder = options.store ?? (env.ANTWAY_STORE || undefined);
  const to = (options.to ?? []).map((url) => targetAt(url, env));
  const store =
    folder === undefined
      ? undefined
      : storeOf(
          await FolderPeerStore.open(folder, await loadBlake3()).catch((error) => {
            throw fileError(error, folder);
          }),
          folder,
        );
  const use: Parameters<typeof readTarget>[4] = async ({ address }, reader) => {
    const addresses = chunksOf(await inventoryOf(reader, address, signal));
    const progress = showCount(output, 'Pinning', 'chunks');
    try {
      if (store === undefined && to.length === 0) {
        if (options.from !== undefined) throw new UsageError('With --from, also give --store or --to.');
        let done = 0;
        const { peers } = reader.target;
        const all = addresses.length * peers.length;
        const onChunk = () => progress.update(++done, all);
        const checks = await Promise.all(peers.map((peer) => checkChunks(peer, addresses, signal, onChunk)));
        progress.stop();
        output.json({ address: address.hex, chunks: addresses.length, peers: checks });
        printChecks(checks, addresses.length, output);
        return requireAllRight(checks);
      }
      const token = (await loadSettings(options, env)).token;
      const sink = uploadTo(to, token === undefined ? {} : { token });
      let [bytes, done, uploaded] = [0, 0, 0];
      if (to.length === 0) {
        await fetchAll(reader, addresses, signal, (_, length) => {
          bytes += length;
          progress.update(++done, addresses.length);
        });
      } else {
        await forEachInLanes(addresses, signal, async (chunk, either) => {
          const record = await reader.chunks.record(chunk, { signal: either });
          bytes += record.bytes.length;
          if ((await sink.store({ address: chunk, bytes: record.bytes }, either)) === 'stored') uploaded++;
          progress.update(++done, addresses.length);
        });
      }
      progress.stop();
      const where = [...(folder === undefined ? [] : [folder]), ...to.map(({ url }) => url)];
      output.json({
        address: address.hex,
        chunks: addresses.length,
        bytes,
        ...(folder !== undefined && { store: folder }),
        ...(to.length > 0 && { to: to.map(({ url }) => url), uploaded }),
      });
      output.line(
        `${address.hex}  ${plural(addresses.length, 'chunk')}, ${formatBytes(bytes)}, in ${where.join(' and ')}`,
      );
    } finally {
      progress.stop();
    }
  };
  await readTarget(content, options, output, context, use, store);
}

/** @throws as `objectStoreAt`; UsageError for AntTP and antd. */
function targetAt(url: string, env: NodeJS.ProcessEnv): UploadTarget {
  if (isObjectStore(url)) return objectStoreAt(url, env);
  const peer = peerFrom(url);
  if (peer.kind !== 'antway') throw new UsageError('Only Antway’s peers take chunks.');
  return new HttpWriter(peer);
}
