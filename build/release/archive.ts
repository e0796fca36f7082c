import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';

/**
 * Writes a `.tar.gz` whose bytes depend on the files' names and contents only: sorted, with fixed owners, modes and times.
 * @param file path of the archive.
 * @param contents paths of files and folders on disk, by their names in the archive.
 * @param time the time of every member.
 */
export async function writeArchive(
  file: string,
  contents: Readonly<Record<string, string>>,
  time: Date,
): Promise<void> {
  const members = Object.entries(contents)
    .flatMap(([name, path]) => membersOf(name, path))
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, path]) => {
      const body = readFileSync(path);
      const mode = statSync(path).mode & 0o100 ? 0o755 : 0o644;
      return { header: { name, size: body.length, mode, mtime: time, type: 'file' as const }, body };
    });
  // The gzip header has no time and names no operating system.
  const bytes = gzipSync(await packTar(members), { level: 9 });
  bytes[9] = 255;
  writeFileSync(file, bytes);
}

function membersOf(name: string, path: string): [name: string, path: string][] {
  if (statSync(path).isFile()) return [[name, path]];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file): [string, string] => [
      `${name}/${file.slice(join(path, sep).length).replaceAll(sep, '/')}`,
      file,
    ]);
}
