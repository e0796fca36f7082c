import type { Address } from '../address.ts';
import { AntwayError, isAbort } from '../errors.ts';
import type { PeerUrl } from '../peer-url.ts';
import { PeerTransports } from '../peers/transports/peer-transports.ts';
import { isAnswer } from '../peers/transports/transport.ts';

/** Asks one peer whether it has a chunk. @throws AntwayError if the peer does not answer. */
export type HasChunk = (address: Address, signal: AbortSignal) => Promise<boolean>;

export interface ChunkPresence {
  /** Chunks that the peer has. */
  present: number;
  /** Chunks that were asked for. Fewer than all of a large publication. */
  asked: number;
}

/** The most chunks that one check asks for. Each costs a request. */
export const mostAsked = 1_000;
const parallelRequests = 8;

/**
 * Counts the chunks that a peer has. Of a larger list it asks for `mostAsked` chunks at equal distances, with the first
 * and the last: the last is the record, without which nothing opens.
 * @throws AntwayError with the first failure of the peer; the signal's reason when aborted.
 */
export async function countPresent(
  chunks: readonly Address[],
  has: HasChunk,
  signal: AbortSignal,
): Promise<ChunkPresence> {
  const asked = spread(chunks, mostAsked);
  const waiting = asked.values();
  let present = 0;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const lane = async () => {
    for (const address of waiting) {
      either.throwIfAborted();
      if (await has(address, either)) present++;
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(parallelRequests, asked.length) }, lane));
  } catch (error) {
    stop.abort(error);
    throw error;
  }
  return { present, asked: asked.length };
}

/** At most `most` items of a list at equal distances, with the first and the last. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))]!);
}

/**
 * Asks one peer for the chunks: with HAS over WebTransport where both sides support it, else with HEAD over HTTP.
 * @throws as `countPresent`; `PEERS_UNREACHABLE` if this browser has no way to reach the peer.
 */
export async function checkPeer(
  peer: PeerUrl,
  chunks: readonly Address[],
  signal: AbortSignal,
): Promise<ChunkPresence> {
  const transports = new PeerTransports(peer, 'auto');
  const { webTransport, http } = transports;
  try {
    if (webTransport) {
      try {
        if (!webTransport.isConnected) await webTransport.connect();
        return await countPresent(chunks, (address, each) => webTransport.has(address, each), signal);
      } catch (error) {
        const isFinal = error instanceof AntwayError && isAnswer(error);
        if (isFinal || !http || isAbort(error, signal)) throw error;
      }
    }
    if (!http) throw transports.missing();
    return await countPresent(chunks, (address, each) => http.has(address, each), signal);
  } finally {
    transports.close();
  }
}
