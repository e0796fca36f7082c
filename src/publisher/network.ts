import { Address } from '../address.ts';
import { type Pointer, parsePointer } from '../content/pointer.ts';
import { AntwayError } from '../errors.ts';
import { AntError, publicError } from '../fetch/ant-error.ts';
import { refuseUnknown } from '../fetch/options.ts';
import { askAll, type MoveOptions, type StateSources, storePointer } from '../owner/move-pointer.ts';
import { isTarget, OwnerStates } from '../owner/states.ts';
import type { Account } from '../payment/account.ts';
import { formatAnt, formatUnits, parseAnt, parseEther } from '../payment/amounts.ts';
import { type Bill, prepareBill } from '../payment/bill.ts';
import { arbitrumOne, type PaymentChain, parseChain } from '../payment/chain.ts';
import { paymentProblemOf } from '../payment/errors.ts';
import { feeLimit } from '../payment/fee-limit.ts';
import { isPaidFor, PaymentJournal, type PendingTransaction } from '../payment/journal.ts';
import { KeyAccount } from '../payment/key-account.ts';
import { paidPointers } from '../payment/paid-pointers.ts';
import { checkLimit, pay } from '../payment/pay.ts';
import { gasOf, unpaid } from '../payment/payable.ts';
import type { RecordToStore } from '../payment/quotes.ts';
import { Relay } from '../payment/relay.ts';
import { peersOfRelays, relayPointerReader } from '../payment/relay-pointers.ts';
import { rpcProvider } from '../payment/rpc.ts';
import { secureUrl } from '../payment/secure-url.ts';
import { forgetWaiting, type PaymentParts, settlePending } from '../payment/settle.ts';
import { confirmStored, paidSink, type StoreParts } from '../payment/upload.ts';
import { Vault } from '../payment/vault.ts';
import { WalletAccount } from '../payment/wallet-account.ts';
import { raceAbort } from '../util/watchdog.ts';
import { untilAborted } from './options.ts';
import type {
  AntJournal,
  AntNetworkOptions,
  AntPaymentProblem,
  AntPointer,
  AntPrice,
  AntWallet,
  AntWholeSink,
} from './types.ts';

export { databaseJournal } from './database-journal.ts';
export type {
  AntChain,
  AntJournal,
  AntJournalStore,
  AntNetworkOptions,
  AntPaymentProblem,
  AntPrice,
  AntWaitingPayment,
  AntWallet,
  AntWholeSink,
} from './types.ts';

const optionKeys = [
  'relays',
  'wallet',
  'key',
  'rpc',
  'maxCost',
  'maxFees',
  'onPrice',
  'onWaiting',
  'journal',
  'chain',
];

/**
 * Pays for publications and stores them in the Autonomi network. Relays bring the chunks there. They are not trusted: every
 * quote is checked here, and a second relay checks the first. All payments are in the journal before they are sent. After an
 * interruption, publish the same content again with the same journal: nothing is paid for twice.
 * @throws TypeError for an unknown option or a wrong type, AntError `BAD_CONFIG` for a wrong relay, endpoint, chain or key.
 */
export function networkSink(options: AntNetworkOptions): AntWholeSink {
  const { chain, relays, vault, account, limit, maxFees, journal, onPrice, onWaiting } = parse(options);
  let previous: Promise<unknown> = Promise.resolve();

  /**
   * Settles interrupted payments, and then does one job with the journal. `settle` pays for records, if the caller agrees.
   */
  async function withJournal(
    signal: AbortSignal,
    work: (parts: StoreParts, settle: (due: ToPay) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    signal.throwIfAborted();
    // A wallet changes to the chain first. Its user may never answer.
    const payer = await raceAbort(account(), signal);
    await vault.checkChain();
    for (const relay of relays) await relay.check(chain, signal);
    const name = await vault.fingerprint();
    await journal.lock(name, async () => {
      signal.throwIfAborted();
      const noted = new PaymentJournal(await journal.open(name));
      const parts = { relays, vault, journal: noted, signal };
      await settlePending(parts);
      await work(parts, async ({ records, check }) => {
        await forgetGone(records, parts);
        const bill = await prepareBill(records, parts);
        const rest = await unpaid(bill.due, noted);
        checkLimit(rest, limit);
        const fees = await vault.feesOf(gasOf(rest));
        await ask(bill, fees, signal);
        const limits = { amount: limit, fees: feeLimit(fees, onPrice !== undefined, maxFees) };
        if (bill.dueRecords > 0) await pay(bill, payer, limits, { ...parts, check });
      });
    });
  }

  /** Forgets the payments for these records that are not in the wallet any more, as the caller says. */
  async function forgetGone(records: readonly RecordToStore[], parts: PaymentParts): Promise<void> {
    const { journal, signal } = parts;
    const names = records.map(({ address, stateId }) => stateId ?? address);
    const gone: PendingTransaction[] = [];
    for (const pending of await journal.pendingFor(names)) {
      if (pending.raw !== undefined) continue;
      const asking = (async () => onWaiting?.(Object.freeze({ account: pending.account })))();
      if ((await raceAbort(asking, signal)) === true) gone.push(pending);
    }
    if (gone.length > 0) await forgetWaiting(gone, parts);
  }

  /** @throws AntwayError `REFUSED` if the caller does not agree. */
  async function ask(bill: Bill, fees: bigint, signal: AbortSignal): Promise<void> {
    const price: AntPrice = {
      chunks: bill.records,
      dueChunks: bill.dueRecords,
      amount: formatUnits(bill.amount),
      fees: formatUnits(fees),
      unconfirmedNodes: bill.unconfirmedNodes,
    };
    // The lock must not stay if nothing answers any more.
    const asking = (async () => onPrice?.(Object.freeze(price)))();
    if ((await raceAbort(asking, signal)) !== false) return;
    const message = `The price of ${formatAnt(bill.amount)} was refused. Nothing was paid.`;
    throw new AntwayError('REFUSED', message);
  }

  const readers = relays.map(relayPointerReader);
  const relayPeers = peersOfRelays(relays);

  /** @throws AntwayError `REFUSED` if the network or a relay has a newer state of the pointer, as `ToPay.check`. */
  async function toPay(pointer: AntPointer, parts: StoreParts): Promise<ToPay> {
    const records: RecordToStore[] = [];
    const peer = paidPointers(readers, async (record) => void records.push(record), parts);
    const address = Address.fromHex(pointer.address);
    const wanted = parsePointer(pointer.record, address);
    const { signal } = parts;
    const check = () => refuseOlder(address, wanted, { peers: [peer], relayPeers, signal });
    await check();
    await peer.prepare?.(address, pointer.record, signal);
    return { records, check };
  }

  /** One after the other: two publications may share chunks, which are paid for once. */
  async function inTurn(signal: AbortSignal, job: () => Promise<void>): Promise<void> {
    const turn = previous.then(job);
    previous = turn.catch(() => undefined);
    try {
      await untilAborted(turn, signal);
    } catch (error) {
      throw publicError(error, signal);
    }
  }

  return {
    storeAll: (chunks, store, { signal, pointer }) =>
      inTurn(signal, () =>
        withJournal(signal, async (parts, settle) => {
          const { records = [], check } = pointer ? await toPay(pointer, parts) : {};
          await settle({ records: [...chunks, ...records], check });
          const sink = paidSink(new Set(chunks.map(({ address }) => address)), parts);
          await store((address, bytes, { signal }) =>
            sink.store({ address: Address.fromHex(address), bytes: new Uint8Array(bytes) }, signal),
          );
          await confirmStored(chunks, parts);
        }),
      ),

    putPointer: (address, record, { signal }) =>
      inTurn(signal, () =>
        withJournal(signal, async (parts, settle) => {
          const bytes = Uint8Array.from(record);
          const due = await toPay({ address, record: bytes }, parts);
          const entries = await Promise.all(due.records.map(({ stateId }) => parts.journal.record(stateId!)));
          if (!entries.every(isPaidFor)) await settle(due);
          const peers = [paidPointers(readers, async () => undefined, parts)];
          await storePointer(Address.fromHex(address), bytes, { peers, token: undefined, signal });
        }),
      ),
  };
}

/** Records, and whether they may be paid for. */
interface ToPay {
  records: readonly RecordToStore[];
  /**
   * Called before each transaction.
   * @throws AntwayError `REFUSED` if the state of a pointer is not the newest one any more.
   */
  check?: (() => Promise<void>) | undefined;
}

/** @throws AntwayError `REFUSED` if there is a newer state, or one of the same counter with another target. */
async function refuseOlder(
  address: Address,
  wanted: Pointer,
  at: StateSources & Pick<MoveOptions, 'signal'>,
): Promise<void> {
  const { pointer } = await askAll(address, { ...at, states: OwnerStates.empty(address) });
  if (!pointer || pointer.counter < wanted.counter) return;
  if (pointer.counter === wanted.counter && isTarget(pointer, wanted)) return;
  const message = `The pointer has the state ${pointer.counter} already. Publish with a larger counter. Nothing more is paid.`;
  throw new AntwayError('REFUSED', message, { address: address.hex });
}

/** Why a payment or a paid upload stopped. @returns undefined for an error of another kind. */
export function paymentProblem(error: unknown): AntPaymentProblem | undefined {
  return paymentProblemOf(error instanceof AntError ? error.cause : error);
}

interface Parsed {
  chain: PaymentChain;
  relays: Relay[];
  vault: Vault;
  account: () => Promise<Account>;
  limit: bigint;
  maxFees: bigint | undefined;
  journal: AntJournal;
  onPrice: AntNetworkOptions['onPrice'];
  onWaiting: AntNetworkOptions['onWaiting'];
}

function parse(options: AntNetworkOptions): Parsed {
  refuseUnknown('networkSink', options, optionKeys);
  const { relays: urls, wallet, key, rpc, maxCost, maxFees: mostFees, onPrice, onWaiting, journal } = options;
  if (!Array.isArray(urls) || urls.length === 0)
    throw new TypeError('networkSink: “relays” must be a list with at least one URL.');
  if (!wallet === (key === undefined)) throw new TypeError('networkSink: give either “wallet” or “key”.');
  if (wallet && typeof wallet.request !== 'function')
    throw new TypeError('networkSink: “wallet” must be an object with request (EIP-1193).');
  if (key !== undefined && !(key instanceof Uint8Array && key.length === 32))
    throw new TypeError('networkSink: “key” must be 32 bytes.');
  if ((rpc === undefined) === (key !== undefined))
    throw new TypeError('networkSink: give “rpc”, the endpoint of the chain, with “key” and only with it.');
  const limit = typeof maxCost === 'string' ? parseAnt(maxCost) : undefined;
  if (limit === undefined)
    throw new TypeError('networkSink: “maxCost” must be an amount in ANT, such as "0.5".');
  const maxFees = typeof mostFees === 'string' ? parseEther(mostFees) : undefined;
  if (mostFees !== undefined && maxFees === undefined)
    throw new TypeError('networkSink: “maxFees” must be an amount in ETH, such as "0.001".');
  for (const [name, listener] of Object.entries({ onPrice, onWaiting }))
    if (listener !== undefined && typeof listener !== 'function')
      throw new TypeError(`networkSink: “${name}” must be a function.`);
  if (typeof journal?.open !== 'function' || typeof journal.lock !== 'function')
    throw new TypeError('networkSink: “journal” must be an object with open and lock.');
  const origins = urls.map(relayOrigin);
  if (new Set(origins).size < origins.length)
    throw new AntError('BAD_CONFIG', 'A relay is named twice. A second relay must be another one.');
  const chain = chainOf(options);
  const vault = new Vault(
    chain,
    wallet ? bound(wallet) : rpcProvider(requireSecure(rpc, 'The endpoint').href),
  );
  let account: () => Promise<Account> = () => WalletAccount.connect(vault);
  if (key) {
    const own = keyAccount(key, vault);
    account = async () => own;
  }
  const relays = origins.map((url) => new Relay(url));
  return { chain, relays, vault, account, limit, maxFees, journal, onPrice, onWaiting };
}

/** @throws AntError `BAD_CONFIG`, also for a path or a hash of a certificate: both would be ignored. */
function relayOrigin(text: unknown): string {
  const { origin, pathname, search, hash } = requireSecure(text, 'A relay');
  if (pathname === '/' && search === '' && hash === '') return origin;
  throw new AntError('BAD_CONFIG', 'A relay must be an origin, with nothing behind it: https://host[:port].');
}

/** @throws AntError `BAD_CONFIG`. */
function requireSecure(text: unknown, what: string): URL {
  const url = secureUrl(String(text));
  // Security: the text is in no message, because it may have a password.
  if (url && !url.username && !url.password) return url;
  const message = `${what} must be an https:// URL without a user name and a password, or http:// on loopback.`;
  throw new AntError('BAD_CONFIG', message);
}

function chainOf({ chain }: AntNetworkOptions): PaymentChain {
  if (chain === undefined) return arbitrumOne;
  const { chainId, token, vault } = Object(chain);
  const parsed = parseChain(`${chainId},${token},${vault}`);
  if (parsed) return parsed;
  throw new AntError(
    'BAD_CONFIG',
    'The chain must have a chainId, and the addresses of its token and its vault.',
  );
}

function bound(wallet: AntWallet): AntWallet {
  return { request: (call) => wallet.request(call) };
}

function keyAccount(key: Uint8Array, vault: Vault): Account {
  try {
    // A copy: the caller may overwrite its secret.
    return new KeyAccount(Uint8Array.from(key), vault);
  } catch (cause) {
    throw new AntError('BAD_CONFIG', 'The key of the account is not valid.', [], { cause });
  }
}
