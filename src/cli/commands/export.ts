import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { headBytes, readHead } from '../../gateway/http/document-head.ts';
import { exportSite } from '../../library/site-file.ts';
import type { SiteLabel } from '../../library/site-file-head.ts';
import { FolderPeerStore } from '../../node-peer/folder-store.ts';
import { loadBlake3 } from '../../self-encryption/blake3.ts';
import { writeAtomically } from '../atomic-file.ts';
import type { CommandContext } from '../context.ts';
import { fileError } from '../disk-file.ts';
import { formatBytes, plural } from '../format.ts';
import type { Opened } from '../open-content.ts';
import { type OutputOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { showCount } from '../progress.ts';
import { type ReadOptions, readTarget } from '../read-target.ts';
import { chunksOf, fetchAll, inventoryOf, storeOf } from '../whole-content.ts';
import { writeOutput } from '../write-output.ts';

interface ExportOptions extends ReadOptions, OutputOptions {
  output?: string;
  store?: string;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .argument('<content>', 'an address, a link or a name')
    .option('-o, --output <file>', 'the file to write; “-” is standard output (default: <address>.antsite)')
    .option(
      '--store <folder>',
      'where fetched chunks go, so that an interrupted export continues (default: ANTWAY_STORE, or a temporary folder)',
    )
    .option(
      '--from <folder>',
      'read chunks from a folder that “publish --out” wrote, instead of asking peers',
    )
    .addHelpText(
      'after',
      '\nWrites the file that the app exports and imports: all encrypted chunks and a description.',
    )
    .action((content: string, options: ExportOptions) => exportContent(content, options, context));
}

async function exportContent(
  content: string,
  options: ExportOptions,
  context: CommandContext,
): Promise<void> {
  const named = options.store ?? (context.env.ANTWAY_STORE || undefined);
  const folder = named ?? (await mkdtemp(join(tmpdir(), 'antway-export-')));
  try {
    await exportThrough(folder, content, options, context);
  } finally {
    if (named === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function exportThrough(
  folder: string,
  content: string,
  options: ExportOptions,
  context: CommandContext,
): Promise<void> {
  const { signal } = context;
  const output = new Output(options);
  const chunkFolder = await FolderPeerStore.open(folder, await loadBlake3()).catch((error) => {
    throw fileError(error, folder);
  });
  const use: Parameters<typeof readTarget>[4] = async (opened, reader) => {
    const { address } = opened;
    const inventory = await inventoryOf(reader, address, signal);
    const addresses = chunksOf(inventory);
    const sizes = new Map<string, number>();
    const progress = showCount(output, 'Fetching', 'chunks');
    try {
      await fetchAll(reader, addresses, signal, ({ hex }, bytes) => {
        sizes.set(hex, bytes);
        progress.update(sizes.size, addresses.length);
      });
    } finally {
      progress.stop();
    }
    const source = await exportSite(address, inventory, () => labelOf(opened, signal), {
      store: { sizes: async () => sizes },
      chunks: reader.chunks,
      manifests: reader.manifests,
    });
    const stream = source.stream(0, source.size, signal);
    const out = options.output ?? `${address.hex}.antsite`;
    if (out === '-') return writeOutput(stream, signal);
    await writeAtomically(out, stream);
    output.json({ address: address.hex, chunks: addresses.length, size: source.size, out });
    output.note(`Wrote ${plural(addresses.length, 'chunk')}, ${formatBytes(source.size)}.`);
    output.line(out);
  };
  await readTarget(content, options, output, context, use, storeOf(chunkFolder, folder));
}

/** The description that the app shows before it imports the file. */
async function labelOf(opened: Opened, signal: AbortSignal): Promise<SiteLabel> {
  if (opened.kind === 'file') return { title: null, icon: null, files: 1, size: opened.source.size };
  const members = [...opened.archive.members.values()];
  const size = members.reduce((sum, member) => sum + (member.size ?? 0), 0);
  const page = await opened.archive.member('index.html')?.load(signal);
  const start = page && (await page.read(0, Math.min(page.size, headBytes), signal));
  return {
    title: start ? readHead(start, 'text/html').title : null,
    icon: null,
    files: members.length,
    size,
  };
}
