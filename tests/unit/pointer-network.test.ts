// @module-tag slow
// @module-tag unix
import '../support/remembered-signatures.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import {
  freezeNow,
  movePointer,
  type StateSource,
  type StateSources,
  sendAgain,
} from '../../src/owner/move-pointer.ts';
import { newSeed, OwnerKey } from '../../src/owner/owner-key.ts';
import { freezePointer, signPointer } from '../../src/owner/sign-pointer.ts';
import { OwnerStates } from '../../src/owner/states.ts';
import { type Payment, pay } from '../../src/payment/pay.ts';
import { receiptOf } from '../../src/payment/receipt.ts';
import { Vault } from '../../src/payment/vault.ts';
import { WalletAccount } from '../../src/payment/wallet-account.ts';
import { openJournal, unfinishedUploads } from '../../src/shell/payment/journal-database.ts';
import {
  openPointerNetwork,
  type PointerDue,
  type PointerNetwork,
} from '../../src/shell/payment/pointer-network.ts';
import { upTo } from '../support/payment-limits.ts';
import { problemOf } from '../support/payment-problem.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';
import { TestWallet } from '../support/test-wallet.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
const target = (digit: string) => ({ kind: 'chunk', target: Address.fromHex(digit.repeat(64)) }) as const;

let chain: TestChain;
let relay: RelayDouble;
let key: OwnerKey;
let states: OwnerStates;
const signal = new AbortController().signal;

beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
});
afterAll(async () => {
  await relay.stop();
  await chain.stop();
});
beforeEach(() => {
  freshIndexedDb();
  relay.faults = {};
  relay.pointers.clear();
  relay.ownPointers.clear();
  relay.stored.clear();
  key = new OwnerKey(newSeed());
  states = OwnerStates.empty(key.address);
});

const paymentChain = () => ({ chainId: TestChain.chainId, token: chain.token, vault: chain.vault });

/** Pays as the form does, once the user agrees. */
function payFor(due: PointerDue): Promise<Payment> {
  return payBy(new TestWallet(chain), due);
}

async function payBy(wallet: TestWallet, { upload, bill, check }: PointerDue): Promise<Payment> {
  const vault = new Vault(paymentChain(), wallet);
  const journal = openJournal(paymentChain());
  await journal.putUpload(upload);
  const account = await WalletAccount.connect(vault);
  return pay(bill, account, upTo(recordPrice), { vault, journal, signal, check: () => check!(signal) });
}

/** Does one action at the relay. */
async function inNetwork<T>(
  askToPay: (due: PointerDue) => Promise<Payment>,
  action: (at: StateSources, paid: PointerNetwork['paid']) => Promise<T>,
): Promise<T> {
  const choice = { relays: [relay.url], nodes: null, chain: paymentChain() };
  const network = await openPointerNetwork(choice, { name: 'Garden', askToPay, signal });
  const { peer, relayPeers, others, paid, close } = network;
  return action({ peers: [peer], relayPeers, others }, paid).finally(close);
}

/** Leads the pointer to content. @param interrupted whether the page is closed before the state is saved. */
function move(digit: string, askToPay: (due: PointerDue) => Promise<Payment>, interrupted = false) {
  const save = async (next: OwnerStates) => {
    if (interrupted) throw new Error('The page was closed.');
    states = next;
  };
  return inNetwork(askToPay, (at) => movePointer(key, target(digit), { ...at, states, save, signal }));
}

/** The amount of the token that the account has less afterwards, in atto. */
async function spentBy(work: () => Promise<unknown>): Promise<bigint> {
  const { token } = await chain.balances();
  await work();
  return token - (await chain.balances()).token;
}

describe('a pointer in the network', () => {
  it('costs as much as a chunk for each new state, and nothing for a state that is stored', async () => {
    const askToPay = vi.fn(payFor);
    const spent = await spentBy(async () => {
      const first = await move('1', askToPay);
      expect(relay.pointers.get(key.address.hex)).toEqual(Buffer.from(first.pointer.record));
      expect((await move('1', askToPay)).present).toEqual([relay.url]);
      const second = await move('2', askToPay);
      expect(second.pointer.counter).toBe(1n);
      expect(relay.pointers.get(key.address.hex)).toEqual(Buffer.from(second.pointer.record));
    });
    expect(spent).toBe(2n * recordPrice);
    expect(askToPay).toHaveBeenCalledTimes(2);
    expect(askToPay.mock.calls[0]![0].bill.amount).toBe(recordPrice);
    expect(await unfinishedUploads()).toEqual([]);
  });

  it('has a receipt for the payment of its state, also after an interruption', async () => {
    const save = async () => undefined;
    const moving = () =>
      inNetwork(payFor, async (at, paid) => {
        const { pointer } = await movePointer(key, target('1'), { ...at, states, save, signal });
        states = states.withPointers([pointer]);
        return paid();
      });
    relay.faults = { putStatus: 410 };
    expect(await problemOf(moving())).toBe('QUOTE_EXPIRED');
    relay.faults = {};
    const { address, network } = (await moving())!;
    // The first run paid.
    expect([address, network.amount]).toEqual([key.address.hex, 0n]);
    const parts = { chain: network.chain, journal: openJournal(network.chain), fees: network.fees };
    const receipt = JSON.parse(await receiptOf(address, network.records, parts));
    expect(receipt).toMatchObject({
      antway: 'receipt',
      address,
      payments: [
        {
          address,
          stateId: network.records[0],
          amount: `${recordPrice}`,
          transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        },
      ],
    });
    // A state that is stored needs no payment, so there is no receipt.
    expect(await moving()).toBeNull();
    key = new OwnerKey(newSeed());
    states = OwnerStates.empty(key.address);
    const first = await moving();
    expect(first!.network.amount).toBe(recordPrice);
    expect(first!.network.fees).toBeGreaterThan(0n);
  });

  it('has no receipt if the nodes have its state, and nothing was paid for it from here', async () => {
    relay.faults = { offer: ({ address }) => ({ address, status: 'stored' }) };
    const save = async () => undefined;
    const payment = await inNetwork(payFor, async (at, paid) => {
      await movePointer(key, target('1'), { ...at, states, save, signal });
      return paid();
    });
    expect(payment).toBeNull();
  });

  it('is neither signed nor stored if the user goes back', async () => {
    const goBack = async () => {
      throw new Error('back');
    };
    expect(await spentBy(() => expect(move('1', goBack)).rejects.toThrow('back'))).toBe(0n);
    expect([states.all.length, relay.pointers.size]).toEqual([0, 0]);
    expect(await unfinishedUploads()).toEqual([]);
    const { pointer } = await move('2', payFor);
    expect(pointer.counter).toBe(0n);
  });

  it('is paid once if the page is closed between the payment and the signed state', async () => {
    const again = vi.fn();
    const spent = await spentBy(async () => {
      await expect(move('1', payFor, true)).rejects.toThrow('The page was closed.');
      expect(await unfinishedUploads()).toMatchObject([
        { address: key.address.hex, name: 'Garden', isPointer: true },
      ]);
      const { stored } = await move('1', again);
      expect(stored).toEqual([relay.url]);
    });
    expect([spent, again.mock.calls.length]).toEqual([recordPrice, 0]);
    expect(relay.pointers.size).toBe(1);
    expect(await unfinishedUploads()).toEqual([]);
  });

  it('is paid once if the relay fails after the payment', async () => {
    const again = vi.fn();
    const spent = await spentBy(async () => {
      relay.faults = { putStatus: 410 };
      expect(await problemOf(move('1', payFor))).toBe('QUOTE_EXPIRED');
      expect(states.newest?.counter).toBe(0n);
      expect(await unfinishedUploads()).toHaveLength(1);
      relay.faults = {};
      await move('1', again);
    });
    expect([spent, again.mock.calls.length]).toEqual([recordPrice, 0]);
    expect(await unfinishedUploads()).toEqual([]);
  });

  it('is not stored in the network because the relay itself stores it', async () => {
    const pointer = signPointer(key, target('1'), []);
    const { record } = pointer;
    states = states.withPointers([pointer]);
    relay.ownPointers.set(key.address.hex, record);
    const save = async () => undefined;
    const again = () => inNetwork(payFor, (at) => sendAgain(key.address, { ...at, states, save, signal }));
    const spent = await spentBy(async () => {
      expect(await again()).toMatchObject({ stored: [relay.url], present: [] });
      expect(relay.pointers.get(key.address.hex)).toEqual(Buffer.from(record));
      expect(await again()).toMatchObject({ stored: [], present: [relay.url] });
    });
    expect(spent).toBe(recordPrice);
  });

  it('is sent again for no further payment if fewer than four nodes have it', async () => {
    const { record } = (await move('1', payFor)).pointer;
    const save = async () => undefined;
    const ask = vi.fn(payFor);
    const again = () => inNetwork(ask, (at) => sendAgain(key.address, { ...at, states, save, signal }));
    const outcomes: string[][] = [];
    const spent = await spentBy(async () => {
      for (const nodeCounts of [[4, 0], [3, 4], [1, 6], null] as const) {
        relay.faults = { nodeCounts };
        outcomes.push((await again()).stored);
      }
    });
    // A relay of an older version tells only states that it counts as stored.
    expect(outcomes).toEqual([[], [relay.url], [relay.url], []]);
    expect([spent, ask.mock.calls.length]).toEqual([0n, 0]);
    expect(relay.pointers.get(key.address.hex)).toEqual(Buffer.from(record));
  });

  it('is not paid for again while silent nodes may have it', async () => {
    const pointer = signPointer(key, target('1'), []);
    states = states.withPointers([pointer]);
    relay.pointers.set(key.address.hex, pointer.record);
    relay.faults = { nodeCounts: [3, 2] };
    const ask = vi.fn(payFor);
    const save = async () => undefined;
    const again = inNetwork(ask, (at) => sendAgain(key.address, { ...at, states, save, signal }));
    await expect(again).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    expect(ask).not.toHaveBeenCalled();
  });

  it('that was paid for and not stored is sent, although silent nodes may have it', async () => {
    relay.faults = { putStatus: 410 };
    expect(await problemOf(move('1', payFor))).toBe('QUOTE_EXPIRED');
    relay.pointers.set(key.address.hex, states.newest!.record);
    relay.faults = { nodeCounts: [3, 2] };
    const ask = vi.fn(payFor);
    const spent = await spentBy(async () => {
      expect((await move('1', ask)).stored).toEqual([relay.url]);
    });
    expect([spent, ask.mock.calls.length]).toEqual([0n, 0]);
  });

  it('has no counter a second time that only the store of a relay has', async () => {
    // On another device, the owner stored it there without a payment.
    const other = signPointer(key, target('1'), [{ counter: 3n }]);
    relay.ownPointers.set(key.address.hex, other.record);
    const { pointer } = await move('2', payFor);
    expect(pointer.counter).toBe(5n);
  });

  it('has no counter a second time if the peer of a relay tells its state late', {
    tags: 'full',
    timeout: 40_000,
  }, async () => {
    // A peer looks the pointer up in the network before it answers.
    relay.faults = { peerDelayMs: 6_000 };
    const other = signPointer(key, target('1'), [{ counter: 3n }]);
    relay.ownPointers.set(key.address.hex, other.record);
    const { pointer } = await move('2', payFor);
    expect(pointer.counter).toBe(5n);
  });

  it('is neither signed nor paid for if the peer of a relay does not tell its state', {
    tags: 'full',
    timeout: 40_000,
  }, async () => {
    const askToPay = vi.fn(payFor);
    relay.faults = { peerDelayMs: 60_000 };
    const moving = move('1', askToPay);
    await expect(moving).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringContaining('did not tell the state of the pointer, which could be newer'),
    });
    expect([askToPay.mock.calls.length, states.all.length, relay.pointers.size]).toEqual([0, 0, 0]);
  });

  it('is signed although places do not answer that the user did not choose', {
    tags: 'full',
    timeout: 20_000,
  }, async () => {
    const silent: StateSource = {
      url: 'https://silent.example',
      pointer: (_address, _maxBytes, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    };
    const away: StateSource = {
      url: 'https://away.example',
      pointer: () => Promise.reject(new Error('It is away.')),
    };
    const save = async () => undefined;
    const others = [silent, away, silent, silent];
    const startMs = performance.now();
    const { pointer } = await inNetwork(payFor, ({ peers }) =>
      movePointer(key, target('1'), { peers, others, states, save, signal }),
    );
    expect(pointer.counter).toBe(0n);
    // They are asked at the same time, and get five seconds together.
    expect(performance.now() - startMs).toBeLessThan(9_000);
    const stopping = new AbortController();
    const stopped = inNetwork(payFor, ({ peers }) =>
      movePointer(key, target('2'), { peers, others: [silent], states, save, signal: stopping.signal }),
    );
    const reason = new Error('The user stopped.');
    setTimeout(() => stopping.abort(reason), 100);
    await expect(stopped).rejects.toBe(reason);
  });

  it('is not paid for if the key signed a newer state elsewhere while the price was shown', {
    tags: 'full',
  }, async () => {
    const first = (await move('1', payFor)).pointer;
    const rival = signPointer(key, target('3'), [{ counter: 7n }]);
    const agreeLate = async (due: PointerDue) => {
      relay.pointers.set(key.address.hex, rival.record);
      return payFor(due);
    };
    const spent = await spentBy(() =>
      expect(move('2', agreeLate)).rejects.toMatchObject({
        code: 'CHANGED',
        message: expect.stringContaining('a newer state (8), which leads to 33333333…'),
      }),
    );
    expect([spent, relay.pointers.get(key.address.hex)]).toEqual([0n, rival.record]);
    expect(await unfinishedUploads()).toEqual([]);
    // The same again is above the newer state, also if the network does not tell that state any more.
    relay.pointers.clear();
    expect((await move('2', payFor)).pointer.counter).toBe(9n);

    // A freeze replaces every state, but not one that the user has not seen.
    const unseen = signPointer(key, target('5'), [{ counter: 9n }]);
    const freezeLate = async (due: PointerDue) => {
      relay.pointers.set(key.address.hex, unseen.record);
      return payFor(due);
    };
    const save = async () => undefined;
    const freezing = inNetwork(freezeLate, (at) =>
      freezeNow(key, { ...at, states, save, signal, confirm: save }),
    );
    await expect(freezing).rejects.toMatchObject({
      code: 'CHANGED',
      message: expect.stringContaining('a newer state (10)'),
    });

    const agreeTooLate = async (due: PointerDue) => {
      relay.ownPointers.set(key.address.hex, freezePointer(key, first, [first]).record);
      return payFor(due);
    };
    await expect(move('4', agreeTooLate)).rejects.toMatchObject({
      code: 'CHANGED',
      message: expect.stringContaining('frozen'),
    });
  });

  it('is not paid for if the key signs a newer state elsewhere while the wallet asks for the permission', {
    tags: 'full',
  }, async () => {
    await move('1', payFor);
    const rival = signPointer(key, target('3'), [{ counter: 7n }]);
    const wallet = new TestWallet(chain);
    const requests = vi.fn();
    wallet.onSend = (send) => {
      requests();
      relay.pointers.set(key.address.hex, rival.record);
      return send();
    };
    const spent = await spentBy(() =>
      expect(move('2', (due) => payBy(wallet, due))).rejects.toMatchObject({ code: 'CHANGED' }),
    );
    expect([spent, requests.mock.calls.length]).toEqual([0n, 1]);
    expect(await unfinishedUploads()).toEqual([]);
    // The user has given the permission, so the next state needs one request only.
    const { pointer } = await move('2', (due) => payBy(wallet, due));
    expect([pointer.counter, requests.mock.calls.length]).toEqual([9n, 2]);
  });

  it('is paid for although an older state is found that was not known', async () => {
    const first = signPointer(key, target('1'), []);
    const unseen = signPointer(key, target('2'), [{ counter: 2n }]);
    const newest = signPointer(key, target('3'), [{ counter: 4n }]);
    states = states.withPointers([first, newest]);
    relay.pointers.set(key.address.hex, unseen.record);
    await inNetwork(payFor, (at) =>
      sendAgain(key.address, { ...at, states, save: async () => undefined, signal }),
    );
    expect(relay.pointers.get(key.address.hex)).toEqual(Buffer.from(newest.record));
  });

  it('names its content before the payment if the network does not have it', async () => {
    const missing: (string | undefined)[] = [];
    const agree = async (due: PointerDue) => {
      missing.push(due.missing?.hex);
      return payFor(due);
    };
    await move('1', agree);
    relay.stored.set(target('2').target.hex, new Uint8Array(1));
    await move('2', agree);
    // A quote of another network is no sign that the content is missing.
    relay.faults = { offer: (offer) => (offer.plan.stateId ? offer : { ...offer, amount: '1' }) };
    await move('3', agree);
    expect(missing).toEqual([target('1').target.hex, undefined, undefined]);
  });

  it('names another pointer before the payment if only the store of a relay has it', {
    tags: 'full',
  }, async () => {
    const inner = new OwnerKey(newSeed());
    const { record } = signPointer(inner, target('1'), []);
    relay.ownPointers.set(inner.address.hex, record);
    const missing: (string | undefined)[] = [];
    const agree = async (due: PointerDue) => {
      missing.push(due.missing?.hex);
      return payFor(due);
    };
    const leadOn = () =>
      inNetwork(agree, (at) =>
        movePointer(
          key,
          { kind: 'pointer', target: inner.address },
          { ...at, states, save: async () => undefined, signal },
        ),
      );
    await leadOn();
    relay.pointers.set(inner.address.hex, record);
    key = new OwnerKey(newSeed());
    states = OwnerStates.empty(key.address);
    await leadOn();
    expect(missing).toEqual([inner.address.hex, undefined]);
  });

  it('is neither signed nor paid for with a relay of an older version', async () => {
    const askToPay = vi.fn(payFor);
    relay.faults = { readAnswer: [405, { code: 'METHOD', message: '' }] };
    const moving = move('1', askToPay);
    expect(await problemOf(moving)).toBe('OLD_RELAY');
    await expect(moving).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('Update this peer'),
    });
    expect([askToPay.mock.calls.length, states.all.length, relay.pointers.size]).toEqual([0, 0, 0]);
  });

  it('has no price if the relay names another vault or another payee', async () => {
    const askToPay = vi.fn();
    relay.faults = { info: { vault: `0x${'66'.repeat(20)}` } };
    expect(await problemOf(move('1', askToPay))).toBe('CHAIN');
    relay.faults = { offer: (offer) => ({ ...offer, rewardsAddress: `0x${'66'.repeat(20)}` }) };
    expect(await problemOf(move('1', askToPay))).toBe('QUOTE');
    expect([askToPay.mock.calls.length, states.all.length]).toEqual([0, 0]);
  });
});
