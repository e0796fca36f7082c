import { AntwayError, isAbort } from '../errors.ts';
import type { Trace } from '../stats/trace.ts';
import type { ByteSource } from './byte-source.ts';

/** Compressed bytes that are inflated at once. They become at most 1,032 times as many, all of them in memory. */
const inputBytes = 4 * 1024;

/** A stream that has been read up to a position. */
interface Sequence {
  at: number;
  reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Bytes behind `at` that were read too many. */
  rest: Uint8Array;
  /** Ends the stream. It has no signal of a caller, because it may outlive the read that opened it. */
  controller: AbortController;
}

/**
 * The inflated bytes of deflated ones. A read that does not follow a former one begins at the start and skips, so a
 * range costs as much as all bytes before its end.
 * @param size the exact size that the archive says, in bytes. Other data fails with `CORRUPT`.
 */
export function inflated(data: ByteSource, size: number, path: string): ByteSource {
  const source: ByteSource = {
    size,
    async read(start, end, signal, trace) {
      signal?.throwIfAborted();
      const sequence = pausedSequences.take(source, start) ?? open(trace);
      const abort = () => sequence.controller.abort(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      try {
        const bytes = new Uint8Array(end - start);
        await skipTo(sequence, start);
        while (sequence.at < end) {
          const at = sequence.at - start;
          bytes.set(await next(sequence, end - sequence.at), at);
        }
        if (end === size) await finish(sequence, path);
        else pausedSequences.add(source, sequence);
        return bytes;
      } catch (error) {
        close(sequence);
        throw error;
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
    stream(start, end, signal, trace) {
      const sequence = open(trace, signal);
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            await skipTo(sequence, start);
            if (sequence.at < end) controller.enqueue(await next(sequence, end - sequence.at));
            if (sequence.at < end) return;
            if (end === size) await finish(sequence, path);
            else await sequence.reader.cancel();
            controller.close();
          },
          cancel: (reason) => sequence.reader.cancel(reason),
        },
        { highWaterMark: 0 },
      );
    },
    chunks: () => data.chunks(0, data.size),
  };

  function open(trace?: Trace, signal?: AbortSignal): Sequence {
    const controller = new AbortController();
    const reader = inflate(data, size, path, signal ?? controller.signal, trace).getReader();
    return { at: 0, reader, rest: new Uint8Array(), controller };
  }

  async function next(sequence: Sequence, most: number): Promise<Uint8Array> {
    if (sequence.rest.length === 0) {
      const { done, value } = await sequence.reader.read();
      if (done) throw wrongSize(path);
      sequence.rest = value;
    }
    const bytes = sequence.rest.subarray(0, most);
    sequence.rest = sequence.rest.subarray(bytes.length);
    sequence.at += bytes.length;
    return bytes;
  }

  async function skipTo(sequence: Sequence, start: number): Promise<void> {
    while (sequence.at < start) await next(sequence, start - sequence.at);
  }

  return source;
}

/** Sequences that wait for their next read, of all members together: each holds a decompressor and its input. */
const mostPaused = 4;
const pausedMs = 5_000;

interface Paused {
  source: ByteSource;
  sequence: Sequence;
  timer: ReturnType<typeof setTimeout>;
}

/** Keeps sequences between two reads. Ends the least recently used ones, and all of them after a short time. */
class PausedSequences {
  /** The least recently used one is the first. */
  readonly #paused: Paused[] = [];

  /** Removes and returns a sequence of this source that continues at `start`. Several readers have one each. */
  take(source: ByteSource, start: number): Sequence | undefined {
    const index = this.#paused.findIndex((each) => each.source === source && each.sequence.at === start);
    return index < 0 ? undefined : this.#remove(index);
  }

  add(source: ByteSource, sequence: Sequence): void {
    const timer = setTimeout(() => {
      const index = this.#paused.findIndex((each) => each.sequence === sequence);
      if (index >= 0) close(this.#remove(index));
    }, pausedMs);
    // In Node, the timer does not keep the program running.
    (timer as { unref?(): void }).unref?.();
    this.#paused.push({ source, sequence, timer });
    if (this.#paused.length > mostPaused) close(this.#remove(0));
  }

  #remove(index: number): Sequence {
    const [{ sequence, timer }] = this.#paused.splice(index, 1) as [Paused];
    clearTimeout(timer);
    return sequence;
  }
}

const pausedSequences = new PausedSequences();

/** Does not wait, and ignores the errors of a stream without a reader. */
function close({ reader, controller }: Sequence): void {
  reader.cancel().catch(() => undefined);
  controller.abort();
}

/** The data must end where the archive says. @throws AntwayError `CORRUPT`. */
async function finish({ reader, rest }: Sequence, path: string): Promise<void> {
  const isEnd = rest.length === 0 && (await reader.read()).done;
  if (isEnd) return;
  await reader.cancel();
  throw wrongSize(path);
}

function wrongSize(path: string): AntwayError {
  return new AntwayError('CORRUPT', `“${path}” has another size than the directory of its ZIP says.`, {
    path,
  });
}

/** Fails with the error of `data`, or `CORRUPT` for data that is not deflated. */
function inflate(
  data: ByteSource,
  size: number,
  path: string,
  signal?: AbortSignal,
  trace?: Trace,
): ReadableStream<Uint8Array> {
  if (size === 0) return new ReadableStream({ start: (controller) => controller.close() });
  const source = data.stream(0, data.size, signal, trace).getReader();
  let pending: Uint8Array = new Uint8Array();
  let failure: unknown;
  const pieces = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          if (pending.length === 0) {
            const { done, value } = await source.read();
            if (done) return controller.close();
            pending = value;
          }
          controller.enqueue(pending.slice(0, inputBytes));
          pending = pending.subarray(inputBytes);
        } catch (error) {
          failure = error;
          throw error;
        }
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const reader = pieces.pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          if (failure || isAbort(error, signal)) throw failure ?? error;
          throw new AntwayError('CORRUPT', `“${path}” is damaged in its ZIP.`, { path }, { cause: error });
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
