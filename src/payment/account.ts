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
   * @returns the hash of the transaction.
   * @throws AntwayError `REJECTED` if the user refused, so that the chain never gets it; as `Vault`.
   */
  send(call: Call, note: (transaction: SentTransaction) => Promise<void>): Promise<string>;
}
