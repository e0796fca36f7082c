import type { Address } from '../address.ts';
import type { CandidateQuote } from './chunk-protocol.ts';
import type { NamedNodes, NodePayment, parseQuote, StorageQuote } from './messages.ts';
import type { NodeAddress } from './node-address.ts';

export interface RequestOptions {
  signal: AbortSignal;
  /** Called for each part of an answer that arrives. It may be the answer to another request of the connection. */
  onBytes?(count: number): void;
  /** Called when the connection has taken the last byte of the request. */
  onSent?(): void;
}

/** The answer of a node that was asked for a price. */
export type NodeQuote = ReturnType<typeof parseQuote>;

/** A chunk and the quote that was paid for it, which may be the one of another node. */
export interface PaidChunk {
  address: Address;
  bytes: Uint8Array<ArrayBuffer>;
  quote: StorageQuote;
  /** 64 hex digits. */
  transaction: string;
}

/** A chunk with the proof that it was paid for in a batch. */
export interface ProvenChunk {
  address: Address;
  bytes: Uint8Array<ArrayBuffer>;
  /** The proof of the payment, as nodes read it. */
  proof: Uint8Array;
}

/** A state of a pointer that was paid for. */
export interface ProvenState {
  address: Address;
  /** The identifier of the state. */
  state: Uint8Array;
  record: Uint8Array;
  /** The proof of the payment, as nodes read it. */
  proof: Uint8Array;
}

/** The abilities that a node reports. */
export interface Abilities {
  /** Whether it stores pointers. */
  hasPointers: boolean;
  /** Whether it gives prices for batches, and takes chunks of them. */
  hasBatches: boolean;
  /** How it wants to be paid. Undefined if it takes no paid chunks. */
  payment: NodePayment | undefined;
}

/** An authenticated connection to one node. */
export interface NodeClient {
  readonly address: NodeAddress;
  readonly isClosed: boolean;
  /** Whether a request waits for its answer. */
  readonly isBusy: boolean;
  /** Whether a caller waits for an answer, or the node has not answered the hello yet. */
  readonly isAwaited: boolean;
  /** Waits for the answer to the hello. @throws AntwayError; the signal's reason when aborted. */
  abilities(signal: AbortSignal): Promise<Abilities>;
  /** The nodes closest to a target that the node knows. @param count how many. Default: as many as an answer may name. */
  findNode(target: Uint8Array, options: RequestOptions, count?: number): Promise<NamedNodes>;
  /** @returns bytes that nothing has verified; undefined if the node has none. */
  getChunk(address: Address, options: RequestOptions): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Asks for the price of a chunk. @returns a quote that nothing has verified. */
  quoteChunk(address: Address, size: number, options: RequestOptions): Promise<NodeQuote>;
  /**
   * Sends a chunk that was paid for.
   * @throws AntwayError with `details.reason`, the node's code, if the node refuses it.
   */
  putChunk(chunk: PaidChunk, options: RequestOptions): Promise<void>;
  /**
   * Asks for the price of a node in a pool of a batch.
   * @param pool the address of the pool. @param timestamp that the node shall sign, in seconds since 1970.
   * @returns a price that nothing has verified.
   */
  quoteCandidate(pool: Address, timestamp: number, options: RequestOptions): Promise<CandidateQuote>;
  /**
   * Sends a chunk that was paid for in a batch.
   * @throws AntwayError with `details.reason` as `decodeChunkPut`, or `unsupported` if the node takes no batches.
   */
  putBatchedChunk(chunk: ProvenChunk, options: RequestOptions): Promise<void>;
  /** @returns a record that nothing has verified; undefined if the node has none. */
  getPointer(address: Address, options: RequestOptions): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * Sends a state of a pointer that was paid for.
   * @returns `stale` if the node says that it has a state which this one does not replace.
   * @throws AntwayError with `details.reason` as `decodePointerPut`, or `unsupported` if the node stores no pointers.
   */
  putPointer(state: ProvenState, options: RequestOptions): Promise<'stored' | 'stale'>;
  close(): void;
}
