import { packTar } from 'modern-tar';
import type { Files } from './tar.ts';

const blockBytes = 512;
const endBytes = 2 * blockBytes;

/** A member as a line of an index tells it. */
export interface Line {
  path: string;
  offset: number;
  size: number;
}

/**
 * A tarchive that is the same every time, with any path and any index: neither the system's `tar` nor the
 * project's own writer makes these.
 *
 * @param index what the index says, by default the truth; `null` for a tar without one.
 */
export async function makeTarchive(
  files: Files,
  index: ((lines: readonly Line[]) => string | Uint8Array) | null = linesOf,
): Promise<Buffer> {
  const members: Buffer[] = [];
  const lines: Line[] = [];
  let at = 0;
  const add = async (path: string, content: string | Uint8Array) => {
    const body = Buffer.from(content);
    const header = { name: path, size: body.length, mtime: new Date(0), mode: 0o644, uid: 0, gid: 0 };
    const tar = Buffer.from(await packTar([{ header, body }])).subarray(0, -endBytes);
    const padded = Math.ceil(body.length / blockBytes) * blockBytes;
    lines.push({ path, offset: at + tar.length - padded, size: body.length });
    members.push(tar);
    at += tar.length;
  };
  for (const [path, content] of Object.entries(files)) await add(path, content);
  if (index) await add('archive.tar.idx', index(lines));
  return Buffer.concat([...members, Buffer.alloc(endBytes)]);
}

/** Index lines as AntTP writes them. */
export function linesOf(lines: readonly Line[]): string {
  return lines.map(({ path, offset, size }) => `${path} ${offset} ${size}\n`).join('');
}
