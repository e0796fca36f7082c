import type { Address } from '../../address.ts';
import type { AntwayError, ErrorCode } from '../../errors.ts';
import type { TransportName } from '../../stats/peer-attempt.ts';

/** The returned bytes are not verified. */
export interface Transport {
  readonly name: TransportName;
  /**
   * @param onFirstByte called when the answer begins to arrive.
   * @param expectedBytes expected size of the chunk, if known: small chunks may share a request.
   * @throws AntwayError `NOT_FOUND` if the peer does not have the chunk, `DENIED` if its operator has blocked it,
   *   `CORRUPT` if its answer cannot be a chunk, `PEERS_UNREACHABLE` for every other failure (see `busyHint`); the
   *   signal's reason when aborted.
   */
  fetch(
    address: Address,
    signal: AbortSignal,
    onFirstByte?: () => void,
    expectedBytes?: number,
  ): Promise<Uint8Array<ArrayBuffer>>;
}

/** Whether the peer is reachable. Another transport of it would give the same answer. */
export function isAnswer({ code, details }: AntwayError): boolean {
  return isAbsence(code) || code === 'CORRUPT' || details.answered === true;
}

/** Whether the peer said that it does not serve the record. Other peers may serve it. */
export function isAbsence(code: ErrorCode): boolean {
  return code === 'NOT_FOUND' || code === 'DENIED';
}
