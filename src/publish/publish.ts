import type { Address } from '../address.ts';
import type { Encrypter } from '../self-encryption/encrypter.ts';
import { type EncryptedChunk, encryptFile } from '../self-encryption/file.ts';
import type { RandomAccess } from '../util/random-access.ts';
import type { ChunkSink } from './upload.ts';

export interface PublishOptions {
  /** A `Codec`, or an encrypter on several threads. */
  codec: Encrypter;
  sink: ChunkSink;
  /** Do not store the data map's record: only a user who has the record can decrypt the file. */
  isPrivate?: boolean;
  /** Called often, so it should be cheap. */
  progress?(progress: PublishProgress): void;
  signal?: AbortSignal;
}

/** `hashedBytes` and then `encryptedBytes` go from 0 to `size`. */
export interface PublishProgress {
  /** Bytes to publish: of the file, or of the folder's tar. */
  size: number;
  hashedBytes: number;
  encryptedBytes: number;
  /** Chunks that the sink has, and how many of them it already had. */
  chunks: number;
  presentChunks: number;
  /** Chunks that the sink could not store. It stores the others before the upload ends with an error. */
  failedChunks: number;
}

export interface Published {
  address: Address;
  /** Plaintext bytes: of the file, or of the folder's tar. */
  size: number;
  /** Includes the data map's record unless the file is private. */
  chunks: number;
  presentChunks: number;
  uploadedBytes: number;
  /** The data map's record. It is the key to a private file. */
  record: Uint8Array<ArrayBuffer>;
}

/** Encrypted chunks that wait for the sink; each takes up to 4 MiB of memory. */
const chunksInFlight = 4;
/** An upload that may continue after a failure ends after so many, if no chunk is stored meanwhile. */
const mostFailures = 4;

/**
 * Self-encrypts a file and passes its chunks to the sink. Encryption continues while earlier chunks are uploaded. The
 * data map's record is stored last: if an address can be resolved, its file is complete. If a chunk fails and the sink may
 * continue, the other chunks are stored before this throws, but not the record.
 * @throws AntwayError `UNSUPPORTED` for fewer than 3 bytes, `TOO_LARGE` for a file that exceeds any data map, and the
 *   errors of the sink. Rejects with the signal's reason when aborted.
 */
export async function publishFile(source: RandomAccess, options: PublishOptions): Promise<Published> {
  const { codec, sink, isPrivate = false, progress } = options;
  const state: PublishProgress = {
    size: source.size,
    hashedBytes: 0,
    encryptedBytes: 0,
    chunks: 0,
    presentChunks: 0,
    failedChunks: 0,
  };
  const report = () => progress?.({ ...state });
  let uploadedBytes = 0;
  const queue = new UploadQueue(sink, options.signal, (chunk, outcome) => {
    if (outcome === 'failed') state.failedChunks++;
    else state.chunks++;
    if (outcome === 'stored') uploadedBytes += chunk.bytes.length;
    if (outcome === 'present') state.presentChunks++;
    report();
  });
  try {
    const { address, record } = await encryptFile(codec, source, {
      // The record is stored below, after all chunks.
      isPrivate: true,
      emit: (chunk) => queue.add(chunk),
      progress(hashedBytes, encryptedBytes) {
        Object.assign(state, { hashedBytes, encryptedBytes });
        report();
      },
      signal: queue.signal,
    });
    await queue.drain();
    if (!isPrivate) {
      await queue.add({ address, bytes: record });
      await queue.drain();
    }
    const { size, chunks, presentChunks } = state;
    return { address, size, chunks, presentChunks, uploadedBytes, record };
  } catch (error) {
    // The first error is the signal's reason; later errors follow from it.
    await queue.abort(error);
    throw queue.signal.reason;
  }
}

type Outcome = 'stored' | 'present' | 'failed';

class UploadQueue {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #sink: ChunkSink;
  readonly #onOutcome: (chunk: EncryptedChunk, outcome: Outcome) => void;
  /** The errors of chunks after which the upload continued. */
  readonly #failures: unknown[] = [];
  #failuresInSuccession = 0;

  constructor(
    sink: ChunkSink,
    signal: AbortSignal | undefined,
    onOutcome: (chunk: EncryptedChunk, outcome: Outcome) => void,
  ) {
    this.#sink = sink;
    this.#onOutcome = onOutcome;
    this.signal = signal ? AbortSignal.any([signal, this.#controller.signal]) : this.#controller.signal;
  }

  /** Resolves when the upload has started, not when the chunk is stored. */
  async add(chunk: EncryptedChunk): Promise<void> {
    while (this.#inFlight.size >= chunksInFlight) await Promise.race(this.#inFlight);
    this.signal.throwIfAborted();
    const upload = this.#store(chunk)
      .catch((error) => this.#controller.abort(error))
      .then(() => {
        this.#inFlight.delete(upload);
      });
    this.#inFlight.add(upload);
  }

  /** @throws the first error of a chunk. */
  async drain(): Promise<void> {
    await Promise.all(this.#inFlight);
    this.signal.throwIfAborted();
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  /** Resolves when no upload is running any more. */
  async abort(reason: unknown): Promise<void> {
    this.#controller.abort(reason);
    await Promise.all(this.#inFlight);
  }

  /** @throws an error that ends the upload. */
  async #store(chunk: EncryptedChunk): Promise<void> {
    let outcome: 'stored' | 'present';
    try {
      outcome = await this.#sink.store(chunk, this.signal);
    } catch (error) {
      if (!this.#sink.mayContinue?.(error)) throw error;
      this.#failures.push(error);
      if (++this.#failuresInSuccession === mostFailures) throw this.#failures[0];
      this.#onOutcome(chunk, 'failed');
      return;
    }
    // A chunk that was there before does not show that the sink still works.
    if (outcome === 'stored') this.#failuresInSuccession = 0;
    this.#onOutcome(chunk, outcome);
  }
}
