import type { Command } from 'commander';
import { createTarchive } from '../../archive/create-tar.ts';
import type { RecordToStore } from '../../payment/quotes.ts';
import { HttpTransport } from '../../peers/transports/http.ts';
import type { ChunkSink } from '../../publish/upload.ts';
import { chunkCount } from '../../self-encryption/file.ts';
import type { CommandContext } from '../context.ts';
import { formatBytes, plural } from '../format.ts';
import {
  type PriceOptions,
  priceAsker,
  priceOptions,
  printPrice,
  requireRelayFor,
} from '../network-price.ts';
import { openKey } from '../open-key.ts';
import { ignoreOption, type OutputOptions, type PeerOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { type LocalPublication, publicationAt, publishTo, summaryOf } from '../publish-path.ts';
import { loadSettings, writablePeers } from '../settings.ts';
import { signOption, signPublication } from '../sign-publication.ts';
import { requirePeers } from '../silent-peers.ts';

interface CostOptions extends PeerOptions, OutputOptions, PriceOptions {
  ignore?: string[];
  exact?: true;
  sign?: string;
}

const noPrice =
  'Peers store without a price, by their own rules. With --network or --relay, the command asks the nodes of the network for their prices.';

export function define(command: Command, context: CommandContext): void {
  const all = withOutput(
    withPeers(command, 'with --exact: a peer to ask which chunks it has; may be given more than once'),
  )
    .argument('<path>', 'a file or folder')
    .addOption(ignoreOption())
    .addOption(signOption())
    .option(
      '--exact',
      'encrypt without storing: the exact bytes and the address; with --peer, what is missing there',
    )
    .addHelpText(
      'after',
      `
With --network or --relay, encrypts without storing, and asks relays for the present prices of the network. Nothing is paid,
and no account is needed. With --sign, the folder counts as \`publish --sign\` publishes it.`,
    )
    .action((path: string, options: CostOptions) => cost(path, options, context));
  for (const option of priceOptions) all.addOption(option);
}

async function cost(path: string, options: CostOptions, context: CommandContext): Promise<void> {
  const { env, signal } = context;
  const output = new Output(options);
  const isPriced = options.network || options.relay !== undefined;
  if (!isPriced) requireRelayFor(options);
  const found = await publicationAt(path, options.ignore ?? [], output);
  const key = options.sign === undefined ? undefined : await openKey(options.sign, context);
  const publication = key ? await signPublication(found, key, output, signal) : found;
  const { files } = summaryOf(publication);
  if (!options.exact && !isPriced) {
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
  const settings = isPriced || options.peer ? await loadSettings(options, env) : undefined;
  const others = isPriced && !options.relay ? writablePeers(settings!).map(String) : [];
  const ask = isPriced ? priceAsker(options, others, output, context) : undefined;
  const peers = options.peer && options.exact ? writablePeers(settings!) : [];
  if (peers.length > 0) await requirePeers(peers, signal, output.isSilent);
  const transports = peers.map((peer) => new HttpTransport(peer));
  const missing = transports.map(({ url }) => ({ peer: url, chunks: 0, bytes: 0 }));
  const records = new Map<string, RecordToStore>();
  let bytes = 0;
  const sink: ChunkSink = {
    async store(chunk, either) {
      bytes += chunk.bytes.length;
      records.set(chunk.address.hex, { address: chunk.address.hex, size: chunk.bytes.length });
      for (const [i, transport] of transports.entries()) {
        if (await transport.has(chunk.address, either)) continue;
        missing[i]!.chunks++;
        missing[i]!.bytes += chunk.bytes.length;
      }
      return 'present';
    },
  };
  const { address, size, chunks } = await publishTo(sink, publication, output, signal);
  const price = ask ? await ask([...records.values()]) : null;
  output.json({ address: address.hex, files, size, chunks, bytes, isExact: true, missing, price });
  output.line(
    `${plural(files, 'file')}, ${formatBytes(size)}: ${plural(chunks, 'chunk')}, ${formatBytes(bytes)}. Address: ${address.hex}`,
  );
  for (const { peer, chunks, bytes } of missing) {
    output.line(`${peer}  lacks ${plural(chunks, 'chunk')}, ${formatBytes(bytes)}`);
  }
  if (price) printPrice(price, output);
  else output.note(noPrice);
}

function sourceOf(publication: LocalPublication): { size: number } {
  return publication.kind === 'file' ? publication.source : createTarchive(publication.listing.entries);
}
