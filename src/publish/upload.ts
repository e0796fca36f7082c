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
 * already has a chunk does not get it again. An unreachable peer is tried 5 times, with growing delays. If one of several
 * fails, the error tells how many chunks each has.
 */
export function uploadTo(targets: readonly UploadTarget[], options: UploadOptions = {}): ChunkSink {
  /** The chunks that each target has. A file can have a chunk twice. */
  const stored = targets.map(() => new Set<string>());
  return {
    async store(chunk, signal) {
      const upload = async (target: UploadTarget, i: number) => {
        const outcome = await uploadChunk(chunk, target, { ...options, signal });
        stored[i]!.add(chunk.address.hex);
        return outcome;
      };
      const outcomes = await Promise.all(targets.map(upload)).catch((error) => {
        throw withCounts(
          error,
          targets.map(({ url }, i) => ({ url, chunks: stored[i]!.size })),
        );
      });
      return outcomes.includes('stored') ? 'stored' : 'present';
    },
  };
}

/** Adds to the error of one of several targets what each of them has. */
function withCounts(error: unknown, counts: readonly { url: string; chunks: number }[]): unknown {
  const isTold = counts.length > 1 && counts.some(({ chunks }) => chunks > 0);
  if (!isTold || !(error instanceof AntwayError)) return error;
  const { code, message, details, cause } = error;
  const stored = counts.map(({ url, chunks }) => `${url} has ${chunks}`).join(', ');
  return new AntwayError(
    code,
    `${message} (Of the chunks so far, ${stored}.)`,
    { ...details, stored: counts },
    { cause },
  );
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
