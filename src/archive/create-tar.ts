import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { bufferAccess, type RandomAccess } from '../util/random-access.ts';
import { encodeHeader } from './encode-header.ts';
import { checkedPath, indexName } from './member-path.ts';
import { blockBytes, paddedToBlock } from './tar-header.ts';
import type { IndexSignature } from './tar-index.ts';

export interface TarEntry {
  /** Relative, with `/` between folders. */
  path: string;
  source: RandomAccess;
  /** Of a tarchive: written into the index as it is. */
  signature?: IndexSignature;
}

/** The bytes after a tar's last member. */
export const tarEnd: Uint8Array<ArrayBuffer> = new Uint8Array(2 * blockBytes);

/**
 * Lays files out as a tarchive: a tar whose last member, `archive.tar.idx`, has a line `path offset size` for each
 * other member, with two more fields if it is signed. `read` composes the archive, which is never in memory. The same paths and bytes always give the same
 * archive, independent of order, owner, mode or time. Offsets in the index include the pax blocks of long paths.
 * @throws AntwayError `UNSUPPORTED` for a path that readers refuse, two entries with one path (in Unicode NFC), or no
 *   entries; `TOO_LARGE` for more entries or a longer index than readers accept.
 */
export function createTarchive(entries: readonly TarEntry[]): RandomAccess {
  if (entries.length === 0) throw new AntwayError('UNSUPPORTED', 'An archive needs at least one file.');
  if (entries.length > limits.archiveEntries) {
    throw new AntwayError(
      'TOO_LARGE',
      `An archive holds at most ${limits.archiveEntries} files; these are ${entries.length}.`,
    );
  }
  const layout = new Layout();
  let text = '';
  for (const { path, source, signature } of sortedByPath(entries)) {
    text += `${path} ${layout.add(path, source)} ${source.size}`;
    text += signature ? ` ${signature.xorname} ${signature.signature}\n` : '\n';
  }
  const index = new TextEncoder().encode(text);
  if (index.length > limits.indexBytes) {
    throw new AntwayError(
      'TOO_LARGE',
      `The archive's index would have ${index.length} bytes, over the limit of ${limits.indexBytes}.`,
    );
  }
  // AntTP finds the index by its name between two zero bytes. A member that fills its last block may end with another
  // byte directly before the header. A pax comment puts its own padding there instead.
  layout.add(indexName, bufferAccess(index), layout.endsInPadding ? undefined : 'index');
  return layout.finish();
}

/** Lays files out as an ordinary tar, in the given order. Paths are not checked: the caller must pass plain names. */
export function createTar(entries: Iterable<TarEntry>): RandomAccess {
  const layout = new Layout();
  for (const { path, source } of entries) layout.add(path, source);
  return layout.finish();
}

/** Returns a member for a tar that is written piece by piece: header, data and padding. `tarEnd` ends the tar. */
export function encodeMember(path: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const header = encodeHeader(path, data.length);
  const bytes = new Uint8Array(header.length + paddedToBlock(data.length));
  bytes.set(header);
  bytes.set(data, header.length);
  return bytes;
}

function sortedByPath(entries: readonly TarEntry[]): TarEntry[] {
  const sorted = entries.map((entry) => ({ ...entry, path: checkedPath(entry.path) }));
  sorted.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const [i, { path }] of sorted.entries()) {
    if (path === sorted[i - 1]?.path) {
      throw new AntwayError('UNSUPPORTED', `Two files have the path “${path}” (in Unicode NFC).`, { path });
    }
  }
  return sorted;
}

/** Bytes of a tar. The gap between two runs is padding: zeros. */
interface Run {
  start: number;
  source: RandomAccess;
}

class Layout {
  readonly #runs: Run[] = [];
  #size = 0;
  /** Whether the byte before the next header is known to be zero. */
  endsInPadding = true;

  /** @returns the position of the member's first data byte. */
  add(path: string, source: RandomAccess, comment?: string): number {
    const header = encodeHeader(path, source.size, comment);
    this.#runs.push({ start: this.#size, source: bufferAccess(header) });
    const offset = this.#size + header.length;
    if (source.size > 0) this.#runs.push({ start: offset, source });
    this.#size = offset + paddedToBlock(source.size);
    this.endsInPadding = source.size % blockBytes !== 0 || source.size === 0;
    return offset;
  }

  finish(): RandomAccess {
    return new Composed(this.#runs, this.#size + tarEnd.length);
  }
}

class Composed implements RandomAccess {
  readonly #runs: readonly Run[];

  constructor(
    runs: readonly Run[],
    readonly size: number,
  ) {
    this.#runs = runs;
  }

  async read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const bytes = new Uint8Array(end - start);
    for (let i = this.#lastRunBefore(start); i < this.#runs.length; i++) {
      const run = this.#runs[i]!;
      if (run.start >= end) break;
      const from = Math.max(start - run.start, 0);
      const to = Math.min(end - run.start, run.source.size);
      if (from < to) bytes.set(await run.source.read(from, to, signal), run.start + from - start);
    }
    return bytes;
  }

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
