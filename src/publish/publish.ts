import type { Address } from '../address.ts';
import type { Codec } from '../self-encryption/codec.ts';
import { type EncryptedChunk, encryptFile, type RandomAccess } from '../self-encryption/file.ts';
import { createTarchive, type TarchiveEntry } from './tarchive.ts';
import type { ChunkSink } from './upload.ts';

export interface PublishOptions {
  codec: Codec;
  sink: ChunkSink;
  /** Keep the data map's record back: whoever gets it can open the file, nobody else can. */
  isPrivate?: boolean;
  /** Called often; costs should be small. */
  progress?(progress: PublishProgress): void;
  signal?: AbortSignal;
}

/** How far it is. `hashedBytes` and `sealedBytes` each go from 0 to `size`, one after the other. */
export interface PublishProgress {
  /** Bytes to publish: the file, or the tar of the folder. */
  size: number;
  hashedBytes: number;
  sealedBytes: number;
  /** Chunks that the sink has, and those of them that it had before. */
  chunks: number;
  presentChunks: number;
}

export interface Published {
  address: Address;
  /** Plaintext bytes: of the file, or of the tar of the folder. */
  size: number;
  /** Chunks made, the data map's record included unless the file is private. */
  chunks: number;
  /** Chunks that the sink already had. */
  presentChunks: number;
  /** Bytes of the chunks that it did not have. */
  uploadedBytes: number;
  /** The data map's record: what a private file is opened with. */
  record: Uint8Array<ArrayBuffer>;
}

/** Sealed chunks that wait for the sink at one time; each is up to 4 MiB of memory. */
const chunksInFlight = 4;

/**
 * Self-encrypts a file and gives its chunks to the sink, sealing the next ones while earlier ones are on their
 * way. The data map's record goes last, once all chunks are stored: an address that answers is complete.
 *
 * @throws AntwayError `UNSUPPORTED` for fewer than 3 bytes, `TOO_LARGE` for what no data map can hold, and what the
 *   sink throws. Rejects with the signal's reason when that is aborted.
 */
export async function publishFile(source: RandomAccess, options: PublishOptions): Promise<Published> {
  const { codec, sink, isPrivate = false, progress } = options;
  const state: PublishProgress = {
    size: source.size,
    hashedBytes: 0,
    sealedBytes: 0,
    chunks: 0,
    presentChunks: 0,
  };
  const report = () => progress?.({ ...state });
  let uploadedBytes = 0;
  const queue = new UploadQueue(sink, options.signal, (chunk, outcome) => {
    state.chunks++;
    if (outcome === 'stored') uploadedBytes += chunk.bytes.length;
    else state.presentChunks++;
    report();
  });
  try {
    const { address, record } = await encryptFile(codec, source, {
      // The record is held back here in any case: it follows when the rest is stored.
      isPrivate: true,
      emit: (chunk) => queue.add(chunk),
      progress(hashedBytes, sealedBytes) {
        Object.assign(state, { hashedBytes, sealedBytes });
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
    // One failed upload ends the others. What it ended with is the reason of all that follows from that.
    await queue.abort(error);
    throw queue.signal.reason;
  }
}

/**
 * Publishes files as one tarchive; see `createTarchive` for paths.
 * @throws as `createTarchive` and `publishFile`.
 */
export async function publishFolder(
  entries: readonly TarchiveEntry[],
  options: PublishOptions,
): Promise<Published> {
  return publishFile(await createTarchive(entries), options);
}

/** Chunks on their way to the sink, a bounded number at a time. */
class UploadQueue {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #sink: ChunkSink;
  readonly #onStored: (chunk: EncryptedChunk, outcome: 'stored' | 'present') => void;

  constructor(
    sink: ChunkSink,
    signal: AbortSignal | undefined,
    onStored: (chunk: EncryptedChunk, outcome: 'stored' | 'present') => void,
  ) {
    this.#sink = sink;
    this.#onStored = onStored;
    this.signal = signal ? AbortSignal.any([signal, this.#controller.signal]) : this.#controller.signal;
  }

  /** Done when there is room for the chunk, not when it is stored. */
  async add(chunk: EncryptedChunk): Promise<void> {
    while (this.#inFlight.size >= chunksInFlight) await Promise.race(this.#inFlight);
    this.signal.throwIfAborted();
    const upload = this.#sink
      .store(chunk, this.signal)
      .then((outcome) => this.#onStored(chunk, outcome))
      .catch((error) => this.#controller.abort(error))
      .then(() => {
        this.#inFlight.delete(upload);
      });
    this.#inFlight.add(upload);
  }

  /** Done when all that was added is stored. */
  async drain(): Promise<void> {
    await Promise.all(this.#inFlight);
    this.signal.throwIfAborted();
  }

  /** Done when no upload is under way any more. */
  async abort(reason: unknown): Promise<void> {
    this.#controller.abort(reason);
    await Promise.all(this.#inFlight);
  }
}
