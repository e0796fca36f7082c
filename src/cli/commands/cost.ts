import type { Command } from 'commander';
import { createTarchive } from '../../archive/create-tar.ts';
import { HttpTransport } from '../../peers/transports/http.ts';
import type { ChunkSink } from '../../publish/upload.ts';
import { chunkCount } from '../../self-encryption/file.ts';
import type { CommandContext } from '../context.ts';
import { formatBytes, plural } from '../format.ts';
import { ignoreOption, type OutputOptions, type PeerOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { type Publication, publicationAt, publishTo, summaryOf } from '../publish-path.ts';
import { loadSettings, writablePeers } from '../settings.ts';
import { requirePeers } from '../silent-peers.ts';

interface CostOptions extends PeerOptions, OutputOptions {
  ignore?: string[];
  exact?: true;
}

const noPrice =
  'Peers store without a price, by their own rules. “antway publish --network --estimate” asks the nodes of the network for their prices.';

export function define(command: Command, context: CommandContext): void {
  withOutput(
    withPeers(command, 'with --exact: a peer to ask which chunks it has; may be given more than once'),
  )
    .argument('<path>', 'a file or folder')
    .addOption(ignoreOption())
    .option(
      '--exact',
      'encrypt without storing: the exact bytes and the address; with --peer, what is missing there',
    )
    .action((path: string, options: CostOptions) => cost(path, options, context));
}

async function cost(path: string, options: CostOptions, { env, signal }: CommandContext): Promise<void> {
  const output = new Output(options);
  const publication = await publicationAt(path, options.ignore ?? [], output);
  const { files } = summaryOf(publication);
  if (!options.exact) {
    const { size } = sourceOf(publication);
    // The data map's record is one more chunk.
    const chunks = chunkCount(size) + 1;
    output.json({ files, size, chunks, isExact: false, price: null });
    output.line(
      `${plural(files, 'file')}, ${formatBytes(size)}: ${plural(chunks, 'chunk')}, at most ${formatBytes(size)} and the data map.`,
    );
    output.note(noPrice);
    return;
  }
  const peers = options.peer ? writablePeers(await loadSettings(options, env)) : [];
  if (peers.length > 0) await requirePeers(peers, signal, output.isSilent);
  const transports = peers.map((peer) => new HttpTransport(peer));
  const missing = transports.map(({ url }) => ({ peer: url, chunks: 0, bytes: 0 }));
  let bytes = 0;
  const sink: ChunkSink = {
    async store(chunk, either) {
      bytes += chunk.bytes.length;
      for (const [i, transport] of transports.entries()) {
        if (await transport.has(chunk.address, either)) continue;
        missing[i]!.chunks++;
        missing[i]!.bytes += chunk.bytes.length;
      }
      return 'present';
    },
  };
  const { address, size, chunks } = await publishTo(sink, publication, output, signal);
  output.json({ address: address.hex, files, size, chunks, bytes, isExact: true, missing, price: null });
  output.line(
    `${plural(files, 'file')}, ${formatBytes(size)}: ${plural(chunks, 'chunk')}, ${formatBytes(bytes)}. Address: ${address.hex}`,
  );
  for (const { peer, chunks, bytes } of missing) {
    output.line(`${peer}  lacks ${plural(chunks, 'chunk')}, ${formatBytes(bytes)}`);
  }
  output.note(noPrice);
}

function sourceOf(publication: Publication): { size: number } {
  return publication.kind === 'file' ? publication.source : createTarchive(publication.listing.entries);
}
