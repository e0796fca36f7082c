import type { SentTransaction } from './journal.ts';
import type { Call } from './vault.ts';

/** An account that pays. */
export interface Account {
  /** `0x` and 40 lower-case hex digits. */
  readonly address: string;
  /** Whether sending waits for the user, who may never answer. */
  readonly asksUser: boolean;
  /**
   * Signs a call and sends it.
   * @param note writes the transaction down. It is called before the chain can have the transaction, and once more if
   *   its hash is known only then.
   * @param maxFee the most that the chain may charge, in wei. A wallet shows the fee to its user, who decides.
   * @returns the hash of the transaction.
   * @throws AntwayError `FEES` if an account that asks no user would have to allow more; `REJECTED` if the user refused, so
   *   that the chain never gets it; as `Vault`.
   */
  send(call: Call, note: (transaction: SentTransaction) => Promise<void>, maxFee: bigint): Promise<string>;
}
