import { AntwayError, asAntwayError, type ErrorCode } from '../errors.ts';
import type { ChunkKeys } from './keys.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Turns the parts of a file into its chunks: a `Codec` on the caller's thread, or an `EncrypterPool`. */
export interface Encrypter {
  /** How many parts it takes at the same time. Default: 1. */
  readonly parallel?: number;
  /** @returns the bytes whose BLAKE3 is the chunk's address. */
  encrypt(plaintext: Uint8Array, keys: ChunkKeys): Promise<Bytes>;
}

/** A message to a worker. `EncryptAnswer` is the reply. */
export interface EncryptRequest {
  plaintext: Bytes;
  keys: ChunkKeys;
}
export type EncryptAnswer = { bytes: Bytes } | { code: ErrorCode; message: string };

/** A worker of a browser or of Node. Its script answers each request with `answerOf`. */
export interface EncryptWorker {
  /** Sends a request, and transfers the buffer of its plaintext. */
  post(request: EncryptRequest): void;
  /** Called once. `failed` is for the worker itself: it did not start, or ended. */
  listen(answered: (answer: EncryptAnswer) => void, failed: (reason: string) => void): void;
  terminate(): void;
}

/** How many workers can work at the same time, and how to start one without waiting for it. */
export interface EncryptWorkers {
  readonly count: number;
  start(): EncryptWorker;
}

/** Smaller files gain nothing: to start a worker takes as long as to encrypt some 4 MB. */
export const smallFileBytes = 8 * 1024 ** 2;

/**
 * Runs `work` with an encrypter for a file of `size` bytes, and ends its workers afterwards.
 * @param codec encrypts small files, and all files if there can be no two workers.
 */
export async function withEncrypter<Result>(
  codec: Encrypter,
  size: number,
  workers: EncryptWorkers,
  work: (encrypter: Encrypter) => Promise<Result>,
): Promise<Result> {
  if (workers.count < 2 || size < smallFileBytes) return work(codec);
  const pool = new EncrypterPool(workers.count, workers.start);
  try {
    return await work(pool);
  } finally {
    pool.close();
  }
}

/** Encrypts in several workers: compression takes most of the time of publishing. */
export class EncrypterPool implements Encrypter {
  readonly parallel: number;
  readonly #threads: readonly EncrypterThread[];
  readonly #idle: EncrypterThread[];
  readonly #waiting: ((thread: EncrypterThread) => void)[] = [];

  constructor(count: number, start: () => EncryptWorker) {
    this.#threads = Array.from({ length: count }, () => new EncrypterThread(start()));
    this.#idle = [...this.#threads];
    // One part is read while all workers are busy.
    this.parallel = count + 1;
  }

  /** @throws AntwayError of the worker's `answerOf`, or `INTERNAL` if the worker did not start or ended. */
  async encrypt(plaintext: Uint8Array, keys: ChunkKeys): Promise<Bytes> {
    const thread =
      this.#idle.pop() ?? (await new Promise<EncrypterThread>((resolve) => this.#waiting.push(resolve)));
    try {
      return await thread.encrypt(plaintext, keys);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(thread);
      else this.#idle.push(thread);
    }
  }

  /** Ends the workers. Promises for what they have not finished stay pending. */
  close(): void {
    for (const thread of this.#threads) thread.close();
  }
}

/** A worker that encrypts one part at a time. */
class EncrypterThread {
  readonly #worker: EncryptWorker;
  #failure: AntwayError | undefined;
  #current: { resolve(bytes: Bytes): void; reject(error: AntwayError): void } | undefined;

  constructor(worker: EncryptWorker) {
    this.#worker = worker;
    worker.listen(
      (answer) => {
        if ('bytes' in answer) this.#current?.resolve(answer.bytes);
        else this.#current?.reject(new AntwayError(answer.code, answer.message));
      },
      (reason) => {
        this.#failure = new AntwayError('INTERNAL', `A worker that encrypts failed: ${reason}`);
        this.#current?.reject(this.#failure);
      },
    );
  }

  encrypt(plaintext: Uint8Array, keys: ChunkKeys): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      if (this.#failure) throw this.#failure;
      this.#current = { resolve, reject };
      // A copy: the caller's bytes may be shared, or a part of a larger buffer.
      this.#worker.post({ plaintext: new Uint8Array(plaintext), keys });
    });
  }

  close(): void {
    this.#worker.terminate();
  }
}

/** A worker's answer to a request. */
export async function answerOf(
  codec: Encrypter,
  { plaintext, keys }: EncryptRequest,
): Promise<EncryptAnswer> {
  try {
    return { bytes: await codec.encrypt(plaintext, keys) };
  } catch (error) {
    const { code, message } = asAntwayError(error);
    return { code, message };
  }
}
