import type { BatchProof, BatchRequest } from './batch.ts';
import type { PaymentChain } from './chain.ts';
import type { NodePrice } from './node-price.ts';
import type { Offer, Plan, RecordToStore } from './quotes.ts';

/** The answer for one record. */
export type RecordQuote =
  | { status: 'stored' }
  | { status: 'unavailable' }
  | { status: 'quoted'; offer: Offer };

/** The payment for a record: its own quote, or the proof that it is in a batch. */
export type RecordPayment = { plan: Plan; transaction: string } | { merkle: BatchProof };

/** A way to the network for records that the user pays for: a relay, or nodes without one. Nothing that it says is trusted. */
export interface PaymentRoute {
  /** Its name for the user. Of a relay, the origin. */
  readonly url: string;
  /** Whether it asks the nodes itself. Nodes that take no browsers are missing then, and most of those that share a host. */
  readonly isDirect: boolean;
  /** Whether it finds the nodes of batches. Known after `check`. */
  readonly hasBatches: boolean;
  /** Makes sure that the route is for this chain. @throws AntwayError `CHAIN`, `SHORTFALL`. */
  check(chain: PaymentChain, signal: AbortSignal): Promise<void>;
  /**
   * Asks for prices, and checks them.
   * @returns an answer for each record, in their order.
   * @throws AntwayError `QUOTE` for a lie, `SHORTFALL` if the route does not answer.
   */
  quotes(
    records: readonly RecordToStore[],
    signal: AbortSignal,
    onProgress?: (asked: number) => void,
  ): Promise<RecordQuote[]>;
  /**
   * Asks for the nodes of a batch, and checks them.
   * @returns the nodes of each pool, in the order of the request, or undefined if too few nodes gave a price.
   * @throws AntwayError `QUOTE` for a lie, `CLOCK`, `SHORTFALL` if the route does not answer.
   */
  pools(
    request: BatchRequest,
    signal: AbortSignal,
    onProgress?: (asked: number) => void,
  ): Promise<NodePrice[][] | undefined>;
  /**
   * Brings a paid record to the network.
   * @throws AntwayError `UNPAID`, `QUOTE_EXPIRED`, `QUOTE`, `SHORTFALL`. The payment stays valid in all cases. `OUTDATED` if
   *   the route says that the network has a newer state of the pointer.
   */
  store(payment: RecordPayment, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void>;
}
