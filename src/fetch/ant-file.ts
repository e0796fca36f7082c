import type { ByteSource } from '../content/byte-source.ts';
import { sniffBytes, sniffType, typeOfName } from '../gateway/http/content-type.ts';
import { AntError } from './ant-error.ts';
import { publicStream } from './body.ts';
import { refuseUnknown } from './options.ts';
import type { AntFile, AntReadInit } from './types.ts';

export interface FileParts {
  address: string;
  name: string;
  source: ByteSource;
  /** Combines the caller's signal with the end of the whole client. */
  until(signal: AbortSignal | null | undefined): AbortSignal;
}

const readKeys = ['signal', 'onProgress'];

/** @throws the errors of reading the first bytes, if only they can tell the type. */
export async function createFile(parts: FileParts, signal: AbortSignal): Promise<AntFile> {
  const { address, name, source, until } = parts;
  const { size } = source;
  const type = typeOfName(name) ?? sniffType(await source.read(0, Math.min(sniffBytes, size), signal));

  function stream(start: number, end: number, { signal, onProgress }: AntReadInit) {
    const isInside = [start, end].every(Number.isSafeInteger) && 0 <= start && start <= end && end <= size;
    if (!isInside)
      throw new AntError('BAD_RANGE', `${start} to ${end} is not in this file of ${size} bytes.`);
    const either = until(signal);
    return publicStream(source.stream(start, end, either), end - start, either, onProgress);
  }

  return Object.freeze<AntFile>({
    kind: 'file',
    address,
    name,
    size,
    type,
    async read(start = 0, end = size, init = {}) {
      refuseUnknown('read', init, readKeys);
      const pieces = stream(start, end, init);
      const bytes = allocate(end - start);
      let at = 0;
      await forEach(pieces, (piece) => {
        bytes.set(piece, at);
        at += piece.length;
      });
      return bytes;
    },
    stream(init = {}) {
      refuseUnknown('stream', init, [...readKeys, 'start', 'end']);
      return stream(init.start ?? 0, init.end ?? size, init);
    },
    async blob(init = {}) {
      refuseUnknown('blob', init, readKeys);
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      await forEach(stream(0, size, init), (piece) => pieces.push(piece));
      return new Blob(pieces, { type });
    },
  });
}

/** @throws AntError `TOO_LARGE` if there is no room in memory. */
function allocate(size: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(size);
  } catch {
    throw new AntError('TOO_LARGE', `${size} bytes do not fit into memory. Read them in parts.`);
  }
}

/** Not every browser iterates streams with `for await`. */
async function forEach<T>(stream: ReadableStream<T>, use: (piece: T) => void): Promise<void> {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) use(next.value);
}
