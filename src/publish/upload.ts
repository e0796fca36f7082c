import { AntwayError, asAntwayError, isAbort } from '../errors.ts';
import type { UploadTarget } from '../peers/upload-target.ts';
import type { EncryptedChunk } from '../self-encryption/file.ts';
import { delay } from '../util/delay.ts';

/** Peers, or a folder. */
export interface ChunkSink {
  /** Resolves when the chunk is stored. `present`: it was already stored, and no bytes were written. */
  store(chunk: EncryptedChunk, signal: AbortSignal): Promise<'stored' | 'present'>;
  /** Whether it is worth storing the other chunks although one failed with this error. Default: no. */
  mayContinue?(error: unknown): boolean;
}

export interface UploadOptions {
  /** Sent as `Authorization: Bearer <token>`. */
  token?: string;
  /** Delay before the second try, in milliseconds. It doubles for each further try. */
  firstRetryMs?: number;
}

const maxTries = 5;
const defaultFirstRetryMs = 500;

/**
 * A sink that sends every chunk to every one of `targets`: a chunk is stored once all of them have it. A peer that
 * already has a chunk does not get it again. An unreachable peer is tried 5 times, with growing delays.
 */
export function uploadTo(targets: readonly UploadTarget[], options: UploadOptions = {}): ChunkSink {
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
 * Sends one chunk to one peer.
 * @throws AntwayError `REFUSED` if the token is missing or wrong, `TOO_LARGE` if the chunk exceeds the peer's limit or
 *   the peer is full, `PEERS_UNREACHABLE` after all tries; the signal's reason when aborted.
 */
export async function uploadChunk(
  { address, bytes }: EncryptedChunk,
  target: UploadTarget,
  {
    token,
    firstRetryMs = defaultFirstRetryMs,
    signal = new AbortController().signal,
  }: UploadOptions & { signal?: AbortSignal } = {},
): Promise<'stored' | 'present'> {
  for (let tries = 1; ; tries++) {
    try {
      signal.throwIfAborted();
      if (await target.has(address, signal, bytes.length)) return 'present';
      return await target.put(address, bytes, { token, signal });
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
      // Jitter, so that uploads that failed together do not retry together.
      await delay(firstRetryMs * 2 ** (tries - 1) * (0.5 + Math.random()), signal);
    }
  }
}
