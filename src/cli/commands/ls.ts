import type { Command } from 'commander';
import type { Archive, FolderEntry } from '../../content/archive.ts';
import { pathDetail } from '../../content/path-detail.ts';
import type { CommandContext } from '../context.ts';
import type { Opened } from '../open-content.ts';
import { type OutputOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { type ReadOptions, readTarget } from '../read-target.ts';

interface ListOptions extends ReadOptions, OutputOptions {
  recursive?: true;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .argument('<content>', 'an address, a link or a name, with or without a path')
    .option('-r, --recursive', 'list the files of all folders below')
    .option(
      '--from <folder>',
      'read chunks from a folder that “publish --out” wrote, instead of asking peers',
    )
    .action((content: string, options: ListOptions) => {
      const output = new Output(options);
      return readTarget(content, options, output, context, async (opened) => {
        const entries = entriesOf(opened, options.recursive === true);
        output.json(entries.map((entry) => pathDetail(entry)));
        print(entries, output);
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

/** `antway get` accepts the paths of this list, unless they have escaped control characters. */
function print(entries: readonly FolderEntry[], output: Output): void {
  const lines = entries.map((entry) =>
    entry.kind === 'file'
      ? { size: String(entry.member.size ?? '?'), path: entry.member.path }
      : { size: '-', path: entry.path },
  );
  const width = lines.reduce((most, { size }) => Math.max(most, size.length), 0);
  for (const { size, path } of lines) output.line(`${size.padStart(width)}  ${path}`);
}
