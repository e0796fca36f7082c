import type { Address } from '../address.ts';
import { AntwayError, asAntwayError, isAbort } from '../errors.ts';
import type { EncryptedChunk } from '../self-encryption/file.ts';

/** A peer that takes chunks. The HTTP transport of a peer is one. */
export interface ChunkTarget {
  /** Names the peer in errors. */
  readonly url: string;
  has(address: Address, signal: AbortSignal): Promise<boolean>;
  put(
    address: Address,
    bytes: Uint8Array,
    options: { token?: string; signal?: AbortSignal },
  ): Promise<'stored' | 'present'>;
}

/** Where published chunks go: peers, a folder. */
export interface ChunkSink {
  /** Done when the chunk is safe there. `present`: it already was, and no bytes were written. */
  store(chunk: EncryptedChunk, signal: AbortSignal): Promise<'stored' | 'present'>;
}

export interface UploadOptions {
  /** What the peers ask of writers, as `Authorization: Bearer <token>`. */
  token?: string;
  /** Wait before the second try, in milliseconds; doubled for each one after it. */
  firstRetryMs?: number;
}

const maxTries = 5;
const defaultFirstRetryMs = 500;

/**
 * A sink that gives every chunk to every one of `targets`: a chunk is stored once all of them have it.
 * A peer that has a chunk is not sent it again; one that cannot be reached is tried 5 times, ever later.
 */
export function uploadTo(targets: readonly ChunkTarget[], options: UploadOptions = {}): ChunkSink {
  return {
    async store(chunk, signal) {
      const outcomes = await Promise.all(
        targets.map((target) => uploadChunk(chunk, target, { ...options, signal })),
      );
      return outcomes.includes('stored') ? 'stored' : 'present';
    },
  };
}

/**
 * Gives one chunk to one peer.
 *
 * @throws AntwayError `REFUSED` when the token is missing or wrong, `TOO_LARGE` when the chunk is over the peer's
 *   limit or the peer is full, `PEERS_UNREACHABLE` when it did not answer after all tries. Rejects with
 *   the signal's reason when that is aborted.
 */
export async function uploadChunk(
  { address, bytes }: EncryptedChunk,
  target: ChunkTarget,
  {
    token,
    firstRetryMs = defaultFirstRetryMs,
    signal = new AbortController().signal,
  }: UploadOptions & { signal?: AbortSignal } = {},
): Promise<'stored' | 'present'> {
  for (let tries = 1; ; tries++) {
    try {
      signal.throwIfAborted();
      if (await target.has(address, signal)) return 'present';
      return await target.put(address, bytes, { ...(token === undefined ? {} : { token }), signal });
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      const failure = asAntwayError(error);
      if (failure.code !== 'PEERS_UNREACHABLE' || tries === maxTries) {
        throw new AntwayError(
          failure.code,
          `${target.url} did not take chunk ${address}${tries > 1 ? ` after ${tries} tries` : ''}: ${failure.message}`,
          { ...failure.details, address: address.hex, peer: target.url },
          { cause: error },
        );
      }
      // Jitter: uploads that failed together must not come back together.
      await wait(firstRetryMs * 2 ** (tries - 1) * (0.5 + Math.random()), signal);
    }
  }
}

/** Rejects with the signal's reason when that is aborted before `milliseconds` have passed. */
function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', stop, { once: true });
  });
}
