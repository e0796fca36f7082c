import type { Address } from '../address.ts';
import type { NodesStatus } from '../nodes/nodes.ts';
import type { PrefetchRange } from './transports/protocol.ts';

export interface FetchOptions<T> {
  signal: AbortSignal;
  /** In bytes, if known: small chunks may share a request. Only a hint. */
  expectedBytes?: number | undefined;
  /** Converts received bytes to the caller's value, or throws `CORRUPT`: then the next peer is asked. */
  verify(received: Uint8Array<ArrayBuffer>): T;
}

export interface PointerOptions<T> extends FetchOptions<T> {
  /** Whether the caller has a record of this pointer. Then a peer that looks for a newer record is not waited for. */
  isKnown: boolean;
}

/** The nodes of the network, which a page connects to for the gateway. `NodeBroker` reads from them. */
export interface NodeSource {
  /**
   * @throws AntwayError `NOT_FOUND` if a majority of the nodes closest to the address does not have the record,
   *   `PEERS_UNREACHABLE` if too few nodes answered, with `details.problem` `no-page` if no page is open that can connect to
   *   nodes, `no-leader` if no page does.
   */
  fetch<T>(address: Address, options: FetchOptions<T> & { onFirstByte?(): void }): Promise<T>;
  pointers<T>(address: Address, options: PointerOptions<T>): Promise<T[]>;
  /** @returns undefined if no page has connections. */
  status(): Promise<NodesStatus | undefined>;
}

export interface PrefetchOptions {
  signal: AbortSignal;
  /** Called with each record as it arrives. @throws `CORRUPT` if the bytes do not match the address. */
  onRecord(address: Address, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

export interface LinkMeasure {
  bytesPerSecond: number;
  /** The shortest measured time from a request to its answer's first byte, in milliseconds. */
  delayMs: number;
}

export interface ChunkPeers {
  fetch<T>(address: Address, options: FetchOptions<T>): Promise<T>;
  /**
   * Asks one peer for a file's map and for everything that a range of the file needs, if that costs one round trip.
   * This is a hint: chunks that do not arrive must be fetched. Resolves when nothing more will arrive. A source without
   * round trips, such as a folder, does not have this method.
   */
  prefetch?(address: Address, range: PrefetchRange, options: PrefetchOptions): Promise<void>;
  /**
   * Asks several peers at once for their mutable record at an address, and waits for all of them. A source without
   * mutable records does not have this method.
   * @returns the records that passed `verify`; an empty list if no peer answers.
   * @throws the signal's reason when aborted.
   */
  pointers?<T>(address: Address, options: PointerOptions<T>): Promise<T[]>;
  /** Undefined before the first measurement. */
  link?(): LinkMeasure | undefined;
}
