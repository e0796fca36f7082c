import { once } from 'node:events';
import { fstatSync, writeSync } from 'node:fs';
import type { AntwayError } from '../errors.ts';
import { fileError } from './disk-file.ts';

/** The number of standard output. */
const descriptor = 1;
let isFile: boolean | undefined;

/**
 * Writes a part of the result to standard output.
 * @returns whether the next part may follow now. Otherwise, wait for `drain`.
 * @throws AntwayError as `fileError`, such as for a full disk. Failures of a pipe are events of `process.stdout`.
 */
export function writePart(part: string | Uint8Array): boolean {
  isFile ??= isFileOrDevice();
  if (!isFile) return process.stdout.write(part);
  // `process.stdout` would lose the rest of a write that a full disk has cut short, without an error.
  let rest = typeof part === 'string' ? Buffer.from(part) : part;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch (error) {
    throw outputError(error);
  }
  return true;
}

/** Writes bytes to standard output. Waits for a slow reader, so that this process's memory does not fill. */
export async function writeOutput(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    // When the reader closes the pipe, the signal aborts, and no `drain` follows.
    if (!writePart(piece)) await once(process.stdout, 'drain', { signal });
  }
}

/** Waits until a pipe has taken everything, so that its last failure is known. */
export async function outputEnded(): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
}

export function outputError(error: unknown): AntwayError {
  return fileError(error, 'standard output');
}

/** Whether it is a file, or a device such as `/dev/null`. Pipes, sockets and terminals are none. */
function isFileOrDevice(): boolean {
  // With numbers, Node 20 would find no package any more after it has seen a pipe: its `realpathSync` takes the last state
  // of a file that was read with numbers for the one of the path.
  const found = fstatSync(descriptor, { bigint: true });
  return found.isFile() || (found.isCharacterDevice() && !process.stdout.isTTY);
}
