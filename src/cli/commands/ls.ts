import type { Command } from 'commander';
import type { Archive, FolderEntry } from '../../content/archive.ts';
import { pathDetail } from '../../content/path-detail.ts';
import type { SignatureCheck } from '../../content/signed-archive.ts';
import type { CommandContext } from '../context.ts';
import type { Opened } from '../open-content.ts';
import { type OutputOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { type ReadOptions, readTarget } from '../read-target.ts';
import { loadSettings } from '../settings.ts';
import { signatureJson, signatureText, signedArchiveIn } from '../signatures.ts';

interface ListOptions extends ReadOptions, OutputOptions {
  recursive?: true;
  signatures?: true;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .argument('<content>', 'an address, a link or a name, with or without a path')
    .option('-r, --recursive', 'list the files of all folders below')
    .option('--signatures', 'check the signature of each file, which fetches all of them')
    .option(
      '--from <folder>',
      'read chunks from a folder that “publish --out” wrote, instead of asking peers',
    )
    .action((content: string, options: ListOptions) => {
      const output = new Output(options);
      return readTarget(content, options, output, context, async (opened) => {
        const entries = entriesOf(opened, options.recursive === true);
        if (options.signatures) return listChecked(opened, entries, options, output, context);
        output.json(entries.map((entry) => pathDetail(entry)));
        print(entries.map(rowOf), output);
      });
    });
}

function entriesOf(opened: Opened, isRecursive: boolean): FolderEntry[] {
  if (opened.kind === 'file') {
    const { source, path, address } = opened;
    const member = { path: path || address.hex, size: source.size, modified: 0, load: async () => source };
    return [{ kind: 'file', name: member.path.split('/').at(-1)!, member }];
  }
  return isRecursive
    ? allBelow(opened.archive, opened.folder)
    : [...(opened.archive.folder(opened.folder) ?? [])];
}

function allBelow(archive: Archive, folder: string): FolderEntry[] {
  return [...archive.members.values()]
    .filter(({ path }) => path.startsWith(folder))
    .map((member): FolderEntry => ({ kind: 'file', name: member.path.split('/').at(-1)!, member }))
    .sort((a, b) => (pathDetail(a).path < pathDetail(b).path ? -1 : 1));
}

async function listChecked(
  opened: Opened,
  entries: readonly FolderEntry[],
  options: ListOptions,
  output: Output,
  { env, signal }: CommandContext,
): Promise<void> {
  const { names } = await loadSettings(options, env);
  const archive = await signedArchiveIn(opened, signal);
  const checks = new Map<FolderEntry, SignatureCheck>();
  for (const entry of entries) {
    if (entry.kind === 'folder') continue;
    // “antway get” follows the routes of the archive. A single file was found by them, and is not found again.
    const path = opened.kind === 'file' ? opened.path : archive?.servedAt(entry.member.path)?.path;
    const check = path === undefined ? undefined : await archive?.check(path, signal);
    checks.set(entry, check ?? { state: 'unsigned' });
  }
  const details = entries.map((entry) => {
    const check = checks.get(entry);
    return { ...pathDetail(entry), ...(check && { signature: signatureJson(check, names) }) };
  });
  output.json(details);
  const rows = entries.map((entry) => {
    const check = checks.get(entry);
    return { ...rowOf(entry), signature: check ? signatureText(check, names) : '-' };
  });
  const width = rows.reduce((most, { signature }) => Math.max(most, signature.length), 0);
  const padded = rows.map(({ size, signature, path }) => ({
    size,
    path: `${signature.padEnd(width)}  ${path}`,
  }));
  print(padded, output);
}

interface Row {
  size: string;
  path: string;
}

function rowOf(entry: FolderEntry): Row {
  if (entry.kind === 'folder') return { size: '-', path: entry.path };
  return { size: String(entry.member.size ?? '?'), path: entry.member.path };
}

/** `antway get` accepts the paths of this list, unless they have escaped control characters. */
function print(rows: readonly Row[], output: Output): void {
  const width = rows.reduce((most, { size }) => Math.max(most, size.length), 0);
  for (const { size, path } of rows) output.line(`${size.padStart(width)}  ${path}`);
}
