import type { Address } from '../../address.ts';
import type { TransportChoice } from '../../config.ts';
import { AntwayError } from '../../errors.ts';
import type { PeerUrl } from '../../peer-url.ts';
import type { TransportName } from '../../stats/stats.ts';

/** One transport of a peer. The bytes that it returns are not verified. */
export interface Transport {
  readonly name: TransportName;
  /**
   * Requests one chunk.
   * @param onFirstByte called when the answer begins to arrive.
   * @param expectedBytes expected size of the chunk, if known: small chunks may share a request.
   * @throws AntwayError `NOT_FOUND` if the peer does not have the chunk, `CORRUPT` if its answer cannot be a chunk,
   *   `PEERS_UNREACHABLE` for every other failure; the signal's reason when aborted.
   */
  fetch(
    address: Address,
    signal: AbortSignal,
    onFirstByte?: () => void,
    expectedBytes?: number,
  ): Promise<Uint8Array<ArrayBuffer>>;
}

/** The error for a peer if this browser supports none of its transports. */
export function noTransport({ id }: PeerUrl, transport: TransportChoice): AntwayError {
  const limit = { auto: '', webtransport: ' by WebTransport alone', http: ' by HTTP alone' }[transport];
  return new AntwayError('PEERS_UNREACHABLE', `This browser has no way to reach ${id}${limit}.`);
}
