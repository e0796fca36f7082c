import type { TarEntry } from '../archive/create-tar.ts';
import { AntwayError } from '../errors.ts';
import { whyLeftOut } from '../publish/left-out.ts';
import { bufferAccess, type RandomAccess } from '../util/random-access.ts';
import type { AntDirectoryHandle, AntFileHandle, AntInputFile, AntPublishInput } from './types.ts';

/** Content that can be encrypted. */
export type PreparedPublication = { name: string | undefined; leftOut: string[] } & (
  | { kind: 'file'; source: RandomAccess }
  | { kind: 'archive'; entries: TarEntry[] }
);

const expected =
  'it must be a Blob, an ArrayBuffer, a Uint8Array, a source, a file or directory handle, or files with paths';

/** @throws TypeError for another type; DOMException when a file may not be read; the errors of the iterable. */
export async function publicationOf(
  content: AntPublishInput,
  signal: AbortSignal,
): Promise<PreparedPublication> {
  const source = sourceOf(content);
  if (source) return { kind: 'file', name: nameOf(content), leftOut: [], source };
  const { kind } = Object(content) as { kind?: unknown };
  if (kind === 'file') return publicationOf(await (content as AntFileHandle).getFile(), signal);
  if (kind === 'directory') return listHandle(content as AntDirectoryHandle, signal);
  if (typeof content === 'string' || !isIterable(content)) throw new TypeError(`publish: ${expected}.`);
  const entries: TarEntry[] = [];
  for await (const entry of content) {
    signal.throwIfAborted();
    entries.push(tarEntryOf(entry));
  }
  return { kind: 'archive', name: undefined, leftOut: [], entries };
}

async function listHandle(folder: AntDirectoryHandle, signal: AbortSignal): Promise<PreparedPublication> {
  const entries: TarEntry[] = [];
  const leftOut: string[] = [];
  const walk = async (handle: AntDirectoryHandle, prefix: string): Promise<void> => {
    for await (const [name, child] of handle.entries()) {
      signal.throwIfAborted();
      const path = prefix + name;
      if (whyLeftOut(path)) leftOut.push(path);
      else if (child.kind === 'directory') await walk(child as AntDirectoryHandle, `${path}/`);
      else entries.push({ path, source: blobAccess(await (child as AntFileHandle).getFile()) });
    }
  };
  await walk(folder, '');
  return { kind: 'archive', name: folder.name, leftOut, entries };
}

function tarEntryOf(entry: AntInputFile): TarEntry {
  const { path, content } = Object(entry) as Partial<AntInputFile>;
  if (typeof path !== 'string') {
    throw new TypeError('publish: each file of an archive must be an object with “path” and “content”.');
  }
  const source = sourceOf(content);
  if (!source) throw new TypeError(`publish: the content of “${path}” must be bytes, a Blob or a source.`);
  return { path, source };
}

function sourceOf(content: unknown): RandomAccess | undefined {
  if (content instanceof Blob) return blobAccess(content);
  if (content instanceof Uint8Array) return bufferAccess(content);
  if (content instanceof ArrayBuffer) return bufferAccess(new Uint8Array(content));
  const { size, read } = Object(content) as Partial<RandomAccess>;
  if (typeof read !== 'function' || typeof size !== 'number') return undefined;
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new TypeError('publish: the size of a source must be a number of bytes.');
  }
  return checked(content as RandomAccess);
}

function blobAccess(blob: Blob): RandomAccess {
  return {
    size: blob.size,
    async read(start, end) {
      try {
        return new Uint8Array(await blob.slice(start, end).arrayBuffer());
      } catch (cause) {
        // The file of the Blob was changed, moved or locked.
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new AntwayError('CORRUPT', `The content cannot be read any more: ${why}`, {}, { cause });
      }
    },
  };
}

/** A source of the caller. Wrong lengths would give chunks that nothing can decrypt. */
function checked(source: RandomAccess): RandomAccess {
  return {
    size: source.size,
    async read(start, end, signal) {
      const bytes = await source.read(start, end, signal);
      if (bytes instanceof Uint8Array && bytes.length === end - start) return bytes;
      throw new AntwayError('CORRUPT', `A source did not return the ${end - start} bytes from ${start}.`);
    },
  };
}

function nameOf(content: unknown): string | undefined {
  const { name } = Object(content) as { name?: unknown };
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function isIterable(content: unknown): content is Iterable<AntInputFile> | AsyncIterable<AntInputFile> {
  const { [Symbol.iterator]: sync, [Symbol.asyncIterator]: async } = Object(content);
  return typeof sync === 'function' || typeof async === 'function';
}
