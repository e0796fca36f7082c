import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { folderTar } from '../../content/folder-tar.ts';
import { writeAtomically } from '../atomic-file.ts';
import type { CommandContext } from '../context.ts';
import { extractFolder } from '../extract-folder.ts';
import { formatBytes, plural } from '../format.ts';
import type { ContentReader, Opened, OpenedFile, OpenedFolder } from '../open-content.ts';
import { type OutputOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { showCount } from '../progress.ts';
import { type ReadOptions, readTarget } from '../read-target.ts';
import { sanitizeFilename } from '../sanitize-filename.ts';
import { UsageError } from '../usage-error.ts';
import { writeOutput } from '../write-output.ts';

interface GetOptions extends ReadOptions, OutputOptions {
  recursive?: true;
  output?: string;
  force?: true;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .argument('<content...>', 'addresses, links or names; “-” reads them from standard input, one in a line')
    .option('-r, --recursive', 'write whole folders; with “-o -”, a tar of the folder')
    .option(
      '-o, --output <path>',
      'the file or folder to write, whole or not at all; “-” is standard output, the default for a file',
    )
    .option('--out <path>', 'the same as --output')
    .option('--force', 'replace a folder that has files')
    .option(
      '--from <folder>',
      'read chunks from a folder that “publish --out” wrote, instead of asking peers',
    )
    .action(async (contents: string[], { out, ...options }: GetOptions & { out?: string }) => {
      if (out !== undefined) options.output ??= out;
      const output = new Output(options);
      const targets = contents.length === 1 && contents[0] === '-' ? await linesOfInput() : contents;
      const isFolder = await isFolderPath(options.output);
      if (targets.length > 1 && options.output !== undefined && options.output !== '-' && !isFolder) {
        throw new UsageError('To write several contents, name a folder that exists with --output.');
      }
      for (const target of targets) {
        await readTarget(target, options, output, context, (opened, reader) =>
          write(opened, { reader, options, output, isFolder, signal: context.signal }),
        );
      }
    });
}

interface WriteContext {
  reader: ContentReader;
  options: GetOptions;
  output: Output;
  /** Whether `--output` is a folder to write into. */
  isFolder: boolean;
  signal: AbortSignal;
}

async function write(opened: Opened, context: WriteContext): Promise<void> {
  const { options } = context;
  if (opened.kind === 'file') return writeFile(opened, context);
  if (opened.zip && !options.recursive) {
    return writeFile({ kind: 'file', address: opened.address, source: opened.zip, path: '' }, context);
  }
  const isTar = options.output === '-' || options.output?.endsWith('.tar');
  if (isTar && (options.recursive || options.output !== '-')) {
    const source = await folderTar(opened.archive, opened.folder, context.signal);
    return writeFile({ kind: 'file', address: opened.address, source, path: 'archive.tar' }, context);
  }
  if (!options.recursive && (options.output === undefined || options.output === '-')) {
    throw new UsageError(
      `“${nameOf(context)}” is a folder. Write its files with -r (to a folder: -o FOLDER; as a tar: -r -o -), or list it with: antway ls`,
    );
  }
  return writeFolder(opened, context);
}

async function writeFile({ address, source, path }: OpenedFile, context: WriteContext): Promise<void> {
  const { options, output, isFolder, signal, reader } = context;
  let out = options.output;
  if (out === '-' || (out === undefined && !options.recursive)) {
    return writeOutput(source.stream(0, source.size, signal), signal);
  }
  const name = () => sanitizeFilename(reader.target.filename ?? path) ?? address.hex;
  if (out === undefined) out = name();
  else if (isFolder) out = join(out, name());
  await writeAtomically(out, source.stream(0, source.size, signal));
  output.json({ address: address.hex, path, size: source.size, files: 1, out });
  output.note(`Wrote ${formatBytes(source.size)} to ${out}`);
}

async function writeFolder(opened: OpenedFolder, context: WriteContext): Promise<void> {
  const { options, output, signal, reader } = context;
  const { address, folder } = opened;
  const out = options.output ?? sanitizeFilename(reader.target.filename ?? folder) ?? address.hex;
  const progress = showCount(output, 'Writing', 'files');
  try {
    const { files, renamed, size } = await extractFolder(opened, out, {
      force: options.force === true,
      signal,
      onFile: progress.update,
    });
    progress.stop();
    output.json({ address: address.hex, path: folder, size, files, out });
    output.note(`Wrote ${plural(files, 'file')}, ${formatBytes(size)}, to ${out}`);
    if (renamed > 0) {
      output.note(
        `Of these, ${plural(renamed, 'file')} had control characters or marks of direction in the path. On disk, each is a “_”.`,
      );
    }
  } finally {
    progress.stop();
  }
}

function nameOf({ reader: { target } }: WriteContext): string {
  return target.address.hex + (target.paths[0] ? `/${target.paths[0]}` : '');
}

async function isFolderPath(path: string | undefined): Promise<boolean> {
  if (path === undefined || path === '-') return false;
  if (/[/\\]$/.test(path)) return true;
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Empty lines, and lines that begin with `#`, are left out. */
async function linesOfInput(): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: process.stdin })) {
    const text = line.trim();
    if (text !== '' && !text.startsWith('#')) lines.push(text);
  }
  if (lines.length === 0) throw new UsageError('Standard input has no address.');
  return lines;
}
