import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '../../errors.ts';
import type { Account } from '../../payment/account.ts';
import type { Bill } from '../../payment/bill.ts';
import type { PaymentChain } from '../../payment/chain.ts';
import { feeLimit } from '../../payment/fee-limit.ts';
import type { PaymentJournal, PendingTransaction, UnfinishedUpload } from '../../payment/journal.ts';
import { type Payment, pay } from '../../payment/pay.ts';
import { gasOf, namesOf, type Payable, sumOf, unpaid } from '../../payment/payable.ts';
import { forgetWaiting, type PaymentParts, settlePending } from '../../payment/settle.ts';
import { type Provider, Vault } from '../../payment/vault.ts';
import { WalletAccount } from '../../payment/wallet-account.ts';
import { raceAbort } from '../../util/watchdog.ts';
import { GatewayApiError } from '../gateway-api.ts';
import { paymentTexts } from '../texts/payment.ts';
import { forgetFormerChain, openJournal } from './journal-database.ts';
import { asPaymentError } from './payment-error.ts';
import { doneAlone } from './payment-lock.ts';
import type { Wallet } from './wallets.ts';

/** An account of a wallet, and what it has. */
export interface Connected {
  account: Account;
  vault: Vault;
  /** The most that the missing payments cost, in atto. */
  amount: bigint;
  /** In atto. */
  balance: bigint;
  /** The probable fees, in wei. */
  fees: bigint;
  /** A payment that the wallet may still send. */
  waiting: PendingTransaction | undefined;
}

/** The step that the user waits for. */
export type Wait = 'connecting' | 'checking' | 'asking' | 'approving' | 'paying' | 'confirming';

/** The records to pay for. */
export interface DueUpload {
  /** Noted before the payment, and unfinished until the records are stored. */
  upload: UnfinishedUpload;
  bill: Bill;
  chain: PaymentChain;
  /**
   * Called before each request to the wallet, because the price may have been on the screen for hours, and a request for
   * minutes. Not called if everything is paid for meanwhile.
   * @throws if the records must not be paid for any more.
   */
  check?(signal: AbortSignal): Promise<void>;
}

/** Connects a wallet and pays with it. */
export function usePayment(
  due: DueUpload,
  onPaid: (payment: Pick<Payment, 'amount' | 'fees'>) => void,
  onBusy: (isBusy: boolean) => void,
) {
  const [connected, setConnected] = useState<Connected | null>(null);
  const [wait, setWait] = useState<Wait | null>(null);
  const [problem, setProblem] = useState<GatewayApiError | null>(null);
  const [isStopped, setStopped] = useState(false);
  const stopping = useRef<AbortController>(undefined);
  const { bill, chain } = due;
  useEffect(() => () => stopping.current?.abort(), []);

  async function work(first: Wait, go: (signal: AbortSignal) => Promise<void>) {
    const stop = new AbortController();
    stopping.current = stop;
    setProblem(null);
    setStopped(false);
    setWait(first);
    onBusy(true);
    try {
      if (!(await doneAlone(() => go(stop.signal))))
        throw new GatewayApiError('BUSY', paymentTexts().busy, { isTranslated: true });
    } catch (error) {
      if (isAbort(error, stop.signal)) setStopped(true);
      else setProblem(asPaymentError(error));
    }
    setWait(null);
    onBusy(false);
  }

  /** Some records may be paid for now. @returns whether all are. */
  async function lookAgain(journal: PaymentJournal): Promise<boolean> {
    const { account } = connected!;
    const { rest, waiting } = await standing(bill, account.address, journal);
    setConnected({ ...connected!, amount: sumOf(rest), waiting });
    return rest.length === 0;
  }

  return {
    connected,
    wait,
    problem,
    isStopped,
    stop: () => stopping.current?.abort(),
    disconnect: () => setConnected(null),
    connect: ({ provider }: Wallet) =>
      work('connecting', async (signal) => {
        const vault = new Vault(
          chain,
          stoppable(provider, () => stopping.current!.signal),
        );
        const account = await WalletAccount.connect(vault);
        setWait('asking');
        const journal = openJournal(chain);
        if (await forgetFormerChain(chain, await vault.fingerprint()))
          throw new GatewayApiError('CHANGED', paymentTexts().newChain, { isTranslated: true });
        await settle({ vault, journal, signal });
        const { rest, waiting } = await standing(bill, account.address, journal);
        if (rest.length === 0) return onPaid({ amount: 0n, fees: 0n });
        const [balance, fees] = await Promise.all([
          vault.balance(account.address),
          vault.feesOf(gasOf(rest)),
        ]);
        setConnected({ account, vault, amount: sumOf(rest), balance, fees, waiting });
      }),
    forget: () =>
      work('asking', async (signal) => {
        const { vault, waiting } = connected!;
        const journal = openJournal(chain);
        const hasLost = await forgetWaiting([waiting!], { vault, journal, signal });
        const isPaid = await lookAgain(journal);
        throwIfLost(hasLost);
        if (isPaid) onPaid({ amount: 0n, fees: 0n });
      }),
    /** @param limit in atto. */
    pay: (limit: bigint) =>
      work('asking', async (signal) => {
        const { account, vault, fees } = connected!;
        const journal = openJournal(chain);
        // The user may have agreed to an older request since the wallet was connected.
        await settle({ vault, journal, signal });
        // Then no transaction is sent, and nothing is checked.
        if ((await unpaid(bill.due, journal)).length === 0) await journal.putUpload(due.upload);
        const check = async () => {
          if (due.check) {
            setWait('checking');
            await due.check(signal);
            setWait('asking');
          }
          await journal.putUpload(due.upload);
        };
        const shown: Account = {
          address: account.address,
          asksUser: account.asksUser,
          async send(call, note, maxFee) {
            setWait(call.to === chain.token ? 'approving' : 'paying');
            const hash = await account.send(call, note, maxFee);
            // The wallet may answer long after the user has stopped.
            if (!signal.aborted) setWait('confirming');
            return hash;
          },
        };
        try {
          const limits = { amount: limit, fees: feeLimit(fees, true) };
          onPaid(await pay(bill, shown, limits, { vault, journal, signal, check }));
        } catch (error) {
          await lookAgain(journal);
          throw error;
        }
      }),
  };
}

/** @throws GatewayApiError `CHANGED`, as `throwIfLost`. */
async function settle(parts: PaymentParts): Promise<void> {
  throwIfLost(await settlePending(parts));
}

/** @throws GatewayApiError `CHANGED` if the chain has lost a payment, which is not on the bill. */
function throwIfLost(hasLost: boolean): void {
  if (hasLost) throw new GatewayApiError('CHANGED', paymentTexts().lost, { isTranslated: true });
}

/** Lets the user stop waiting for a wallet. Only the answer to a transaction is awaited after that, for the journal. */
function stoppable(provider: Provider, signal: () => AbortSignal): Provider {
  return {
    request: (request) =>
      request.method === 'eth_sendTransaction'
        ? provider.request(request)
        : raceAbort(provider.request(request), signal()),
  };
}

/**
 * The missing payments of the bill, and a payment for one of its records that a wallet may still send. One of
 * another account has to be forgotten first.
 */
async function standing(
  { due }: Bill,
  account: string,
  journal: PaymentJournal,
): Promise<{ rest: readonly Payable[]; waiting: PendingTransaction | undefined }> {
  const rest = await unpaid(due, journal);
  const all = [...due.batches.map((batch) => ({ batch })), { offers: due.offers }];
  const pending = await journal.pendingFor(all.flatMap(namesOf));
  const waiting = pending.find((other) => other.account !== account) ?? pending[0];
  return { rest, waiting };
}
