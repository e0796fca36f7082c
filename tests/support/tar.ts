import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unpackTar } from 'modern-tar';
import { fromRoot } from './paths.ts';

/** Path in the archive → content. A path with a slash at its end is a folder's own entry. */
export type Files = Record<string, string | Uint8Array>;

export type TarFormat = 'ustar' | 'gnu' | 'pax';

const indexName = 'archive.tar.idx';

/** Makes an ordinary tar of files with the system's `tar`, in `<folder>/archive.tar`. */
export function makeTar(folder: string, files: Files, format: TarFormat = 'ustar'): Buffer {
  return runTar(folder, files, ['--create', `--format=${format}`]);
}

/** Appends files to the tar that `makeTar` left in the folder, as `tar --append` does. */
export function appendToTar(folder: string, files: Files): Buffer {
  return runTar(folder, files, ['--append']);
}

/**
 * Makes a tarchive: a tar with an index at its end.
 * @param index its lines, made from where the members are; by default AntTP's `path offset size`.
 */
export function makeTarchive(
  folder: string,
  files: Files,
  index: (tar: Buffer) => string = (tar) => indexOf(tar, files),
): Buffer {
  const tar = makeTar(folder, files);
  return appendToTar(folder, { [indexName]: index(tar) });
}

/** Index lines for files that stand in the tar in this order. Their contents are what they are found by. */
export function indexOf(tar: Buffer, files: Files): string {
  let end = 0;
  let lines = '';
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const position = tar.indexOf(bytes, end);
    if (position < 0) throw new Error(`the content of ${path} is not in the tar`);
    lines += `${path} ${position} ${bytes.length}\n`;
    end = position + bytes.length;
  }
  return lines;
}

/** SHA-256 of every file of a tar but its index, by path, as an independent reader finds them. */
export async function memberHashes(tar: Uint8Array): Promise<Record<string, string>> {
  const members = await unpackTar(new Uint8Array(tar));
  return Object.fromEntries(
    members
      .filter(({ header }) => header.type === 'file' && header.name !== indexName)
      .map(({ header, data }) => [header.name, sha256(data!)]),
  );
}

/** A fixture that was read back from AntTP: its address, and the tar that it holds. */
export function anttpFixture(name: string): { address: string; tar: Buffer } {
  const folder = fromRoot(`tests/fixtures/anttp/${name}`);
  const { address } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { address: string };
  return { address, tar: readFileSync(join(folder, 'plain.bin')) };
}

/** All chunks of such a fixture, by address. */
export function anttpChunks(name: string): [address: string, bytes: Buffer][] {
  const folder = fromRoot(`tests/fixtures/anttp/${name}/chunks`);
  return readdirSync(folder).map((address) => [address, readFileSync(join(folder, address))]);
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function runTar(folder: string, files: Files, args: string[]): Buffer {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(path.endsWith('/') ? file : dirname(file), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(file, content);
  }
  const all = [...args, '--file=archive.tar', '--no-recursion', '--null', '--files-from=-'];
  execFileSync('tar', all, { cwd: folder, input: Object.keys(files).join('\0') });
  return readFileSync(join(folder, 'archive.tar'));
}
