import { AntwayError, type ErrorCode, type ErrorDetails } from '../errors.ts';

/** Why a paid upload stopped: `details.payment` of the error. docs/how-to/publish-to-the-network.md lists them. */
export type PaymentProblem = keyof typeof codes;

const codes = {
  /** The relay, the RPC endpoint or the wallet is on another chain, or names other contracts. */
  CHAIN: 'REFUSED',
  /** A quote is not what the network's nodes sign, or a price does not follow their rule. */
  QUOTE: 'CORRUPT',
  /** Two relays name different nodes for a record. */
  RELAYS_DIFFER: 'CORRUPT',
  /** The total exceeds the user's limit. */
  OVER_LIMIT: 'REFUSED',
  /** The fees of the chain exceed the user's limit, or are much higher than those that the user saw. */
  FEES: 'REFUSED',
  /** The account has too little of the token, or too little ether for the fees. */
  FUNDS: 'REFUSED',
  /** The wallet does not give access to the account, or an earlier payment is one of another account. */
  ACCOUNT: 'REFUSED',
  /** The user refused in the wallet. */
  REJECTED: 'REFUSED',
  /** The wallet lets the vault take another amount than the price. Nothing was paid. */
  ALLOWANCE: 'REFUSED',
  /** The chain did not execute the transaction. Nothing was paid. */
  REVERTED: 'REFUSED',
  /** The chain has not confirmed the transaction in time. */
  PENDING: 'PEERS_UNREACHABLE',
  /** The nodes see no payment, although the chain confirmed it. */
  UNPAID: 'PEERS_UNREACHABLE',
  /** A node that was paid is not close to the record any more, or the payment for a batch is older than seven days. */
  QUOTE_EXPIRED: 'PEERS_UNREACHABLE',
  /** The network has a newer state of the pointer. */
  OUTDATED: 'REFUSED',
  /** Too few nodes, or no relay, answered. */
  SHORTFALL: 'PEERS_UNREACHABLE',
  /** The relay is of an older version, which does not read pointers from the network. */
  OLD_RELAY: 'UNSUPPORTED',
  /** A relay said that a record is stored, and another one does not find it. */
  NOT_STORED: 'PEERS_UNREACHABLE',
  /** The files or the prices are not those that the user has seen. */
  CHANGED: 'REFUSED',
  /** The clock of this device is wrong, so that nodes would not accept the payment. */
  CLOCK: 'REFUSED',
  /** The RPC endpoint does not answer, or refuses. */
  RPC: 'PEERS_UNREACHABLE',
} as const satisfies Record<string, ErrorCode>;

/** An error whose `details.payment` is `problem`. */
export function paymentError(
  problem: PaymentProblem,
  message: string,
  details: ErrorDetails = {},
  cause?: unknown,
): AntwayError {
  return new AntwayError(codes[problem], message, { ...details, payment: problem }, { cause });
}

/** @returns undefined for an error of another kind. */
export function paymentProblemOf(error: unknown): PaymentProblem | undefined {
  return error instanceof AntwayError ? (error.details.payment as PaymentProblem | undefined) : undefined;
}

/**
 * Whether an error may concern only one record, so that others of the same upload can still be stored. `UNPAID`: nodes see the
 * other payments. `QUOTE_EXPIRED`: other payees are close to other records. `SHORTFALL`: other nodes store other records.
 */
export function isOfOneRecord(error: unknown): boolean {
  const problem = paymentProblemOf(error);
  return problem === 'UNPAID' || problem === 'QUOTE_EXPIRED' || problem === 'SHORTFALL';
}
