import { createTarPacker, type TarHeader } from 'modern-tar';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { bufferAccess, type RandomAccess } from '../self-encryption/file.ts';

/** One file of a folder: its path in the archive, and its bytes. */
export interface TarchiveEntry {
  /** Relative, with `/` between folders. Converted to Unicode NFC. */
  path: string;
  source: RandomAccess;
}

/** The member that lists all others; always the last one. */
const indexPath = 'archive.tar.idx';

const blockBytes = 512;
const endBytes = 2 * blockBytes;

/** A run of the archive's bytes. The gap between two runs is padding: zeros. */
interface Run {
  /** Position of the first byte in the archive. */
  start: number;
  source: RandomAccess;
}

/**
 * Lays files out as a tarchive: a tar whose last member, `archive.tar.idx`, has a line `path offset size` for each
 * other member. The archive is never in memory: `read` composes headers, pieces of the sources and padding. The same
 * paths and bytes always give the same archive, independent of their order, owner, mode or time.
 *
 * A path that does not fit into a ustar header is stored in pax blocks before its header. The offsets in the index
 * include these blocks.
 *
 * @throws AntwayError `UNSUPPORTED` for a path that readers refuse, two entries with one path, or no entries;
 *   `TOO_LARGE` for more entries or a longer index than readers accept.
 */
export async function createTarchive(entries: readonly TarchiveEntry[]): Promise<RandomAccess> {
  if (entries.length === 0) throw new AntwayError('UNSUPPORTED', 'An archive needs at least one file.');
  if (entries.length > limits.archiveEntries) {
    throw new AntwayError(
      'TOO_LARGE',
      `An archive holds at most ${limits.archiveEntries} files; these are ${entries.length}.`,
    );
  }
  const layout = new Layout();
  let index = '';
  for (const { path, source } of sortedByPath(entries)) {
    const offset = await layout.add({ name: path, size: source.size }, source);
    index += `${path} ${offset} ${source.size}\n`;
  }
  const indexBytes = new TextEncoder().encode(index);
  if (indexBytes.length > limits.indexBytes) {
    throw new AntwayError(
      'TOO_LARGE',
      `The archive's index would have ${indexBytes.length} bytes, over the limit of ${limits.indexBytes}.`,
    );
  }
  // AntTP finds the index by its name between two zero bytes. A member that fills its last block may end with another
  // byte directly before the header. A pax comment puts its own padding there instead.
  const comment = layout.endsInPadding ? {} : { pax: { comment: 'index' } };
  await layout.add({ name: indexPath, size: indexBytes.length, ...comment }, bufferAccess(indexBytes));
  return layout.finish();
}

/**
 * Lays files out as an ordinary tar, in the given order. As `createTarchive`, but paths are not checked: the caller
 * must pass plain names.
 */
export async function createTar(entries: Iterable<TarchiveEntry>): Promise<RandomAccess> {
  const layout = new Layout();
  for (const { path, source } of entries) await layout.add({ name: path, size: source.size }, source);
  return layout.finish();
}

/**
 * Returns a path in the form that the archive stores.
 * @throws AntwayError `UNSUPPORTED` with the reason. Readers refuse members by the same rules.
 */
function checkedPath(path: string): string {
  const normal = path.normalize('NFC');
  const segments = normal.split('/');
  let why: string | undefined;
  if (normal === '') why = 'it is empty';
  else if (normal.startsWith('/')) why = 'it starts with “/”';
  // The index is parsed line by line.
  else if (/[\0\n\r]/.test(normal)) why = 'it holds a NUL or a line break';
  else if (segments.includes('..') || segments.includes('.')) why = 'it has a “.” or “..” segment';
  else if (segments.includes('')) why = 'it has an empty segment';
  else if (normal === indexPath) why = 'the archive’s own index has this name';
  else if (new TextDecoder().decode(new TextEncoder().encode(normal)) !== normal) why = 'it is not Unicode';
  if (why) {
    throw new AntwayError('UNSUPPORTED', `${JSON.stringify(path)} cannot be a path in an archive: ${why}.`, {
      path,
    });
  }
  return normal;
}

function sortedByPath(entries: readonly TarchiveEntry[]): TarchiveEntry[] {
  const sorted = entries.map(({ path, source }) => ({ path: checkedPath(path), source }));
  sorted.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const [i, { path }] of sorted.entries()) {
    if (path === sorted[i - 1]?.path) {
      throw new AntwayError('UNSUPPORTED', `Two files have the path “${path}” (in Unicode NFC).`, { path });
    }
  }
  return sorted;
}

/** Computes the positions of headers and data as members are added. */
class Layout {
  readonly #runs: Run[] = [];
  #size = 0;
  /** Whether the byte before the next header is known to be zero. */
  endsInPadding = true;

  /** @returns the position of the member's first data byte. */
  async add(header: Pick<TarHeader, 'name' | 'size' | 'pax'>, source: RandomAccess): Promise<number> {
    const bytes = await headerBytes(header);
    this.#runs.push({ start: this.#size, source: bufferAccess(bytes) });
    const offset = this.#size + bytes.length;
    if (source.size > 0) this.#runs.push({ start: offset, source });
    this.#size = offset + paddedToBlock(source.size);
    this.endsInPadding = source.size % blockBytes !== 0 || source.size === 0;
    return offset;
  }

  finish(): RandomAccess {
    return new Composed(this.#runs, this.#size + endBytes);
  }
}

/** Composes bytes from runs in ascending order, with zeros in the gaps. */
class Composed implements RandomAccess {
  readonly #runs: readonly Run[];

  constructor(
    runs: readonly Run[],
    readonly size: number,
  ) {
    this.#runs = runs;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(end - start);
    for (let i = this.#lastRunBefore(start); i < this.#runs.length; i++) {
      const run = this.#runs[i]!;
      if (run.start >= end) break;
      const from = Math.max(start - run.start, 0);
      const to = Math.min(end - run.start, run.source.size);
      if (from < to) bytes.set(await run.source.read(from, to), run.start + from - start);
    }
    return bytes;
  }

  /** Index of the last run that starts at or before `position`. */
  #lastRunBefore(position: number): number {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#runs[middle]!.start <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Returns the blocks before a member's data: its header, preceded by pax blocks for a long path. */
async function headerBytes(
  header: Pick<TarHeader, 'name' | 'size' | 'pax'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, controller } = createTarPacker();
  // `add` queues the header's blocks before it returns. It then waits for the body, which is never written here.
  controller.add({ ...header, mtime: new Date(0), mode: 0o644, uid: 0, gid: 0 });
  const reader = readable.getReader();
  const blocks = [];
  let length = 0;
  let expected = blockBytes;
  while (length < expected) {
    const { value } = await reader.read();
    if (!value) throw new Error('The tar packer ended within a header.');
    if (length === 0 && value[typeflagAt] === paxHeader)
      expected += paddedToBlock(sizeIn(value)) + blockBytes;
    blocks.push(value);
    length += value.length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const block of blocks) {
    bytes.set(block, at);
    at += block.length;
  }
  return bytes;
}

const typeflagAt = 156;
const paxHeader = 0x78; // "x"

/** Reads the size field of a tar header: twelve bytes, octal. */
function sizeIn(header: Uint8Array): number {
  return Number.parseInt(new TextDecoder().decode(header.subarray(124, 135)), 8);
}

function paddedToBlock(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}
