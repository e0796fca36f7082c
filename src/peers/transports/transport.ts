import type { Address } from '../../address.ts';
import type { TransportName } from '../../stats/stats.ts';

/** One way to reach a peer. What it gives is not yet verified. */
export interface Transport {
  readonly name: TransportName;
  /**
   * Asks for one chunk.
   * @param onFirstByte called when the answer begins to arrive.
   * @param expectedBytes how large it should be, where that is known: small ones may share a request.
   * @throws AntwayError `NOT_FOUND` when the peer has not got it, `CORRUPT` when its answer cannot be a chunk,
   *   `PEERS_UNREACHABLE` for everything else; the signal's reason when aborted.
   */
  fetch(
    address: Address,
    signal: AbortSignal,
    onFirstByte?: () => void,
    expectedBytes?: number,
  ): Promise<Uint8Array<ArrayBuffer>>;
}
