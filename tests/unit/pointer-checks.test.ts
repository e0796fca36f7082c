import { beforeEach, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import type { PointerTarget } from '../../src/owner/sign-pointer.ts';
import type { PaymentJournal } from '../../src/payment/journal.ts';
import type { PaymentRoute, RecordQuote } from '../../src/payment/payment-route.ts';
import { priceState } from '../../src/payment/pointer-checks.ts';
import type { Offer, RecordToStore } from '../../src/payment/quotes.ts';
import { memoryJournal } from '../support/memory-journal.ts';

const target: PointerTarget = { kind: 'chunk', target: Address.fromHex('ab'.repeat(32)) };
const due: RecordToStore = { address: 'cd'.repeat(32), stateId: 'ef'.repeat(32), size: 5303 };
const offer = ({ address, stateId }: RecordToStore): RecordQuote => ({
  status: 'quoted',
  offer: { plan: { address, stateId, quotes: [{ timestamp: Date.now() / 1000 }] }, amount: '1' } as Offer,
});
const reader = { pointer: () => Promise.reject(new Error('The content is a chunk.')) };

let journal: PaymentJournal;
let stopping: AbortController;
beforeEach(() => {
  journal = memoryJournal();
  stopping = new AbortController();
});

type Quote = (signal: AbortSignal) => Promise<RecordQuote>;

/** @param price the answer about the state, and `content` about what it leads to. */
function priceAt(price: Quote, content: Quote) {
  const route: PaymentRoute = {
    url: 'https://relay.example',
    hasBatches: false,
    isDirect: false,
    check: async () => undefined,
    quotes: async (records, signal) =>
      Promise.all(records.map(({ stateId }) => (stateId === undefined ? content : price)(signal))),
    pools: async () => undefined,
    store: async () => undefined,
  };
  return priceState(due, target, { relays: [route], journal, signal: stopping.signal }, reader);
}

/** Never answers. @returns what ended the question. */
function silent(): { quote: Quote; ended: Promise<unknown> } {
  let quote: Quote = () => Promise.reject(new Error('It was asked too early.'));
  const ended = new Promise((resolve) => {
    quote = (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          resolve(signal.reason);
          reject(signal.reason);
        }),
      );
  });
  return { quote, ended };
}

describe('the price of a state', () => {
  it('is asked for at the same time as the content that the state leads to', async () => {
    let contentAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      contentAsked = resolve;
    });
    const price: Quote = async () => {
      await asked;
      return offer(due);
    };
    const content: Quote = async () => {
      contentAsked();
      return offer({ address: target.target.hex, size: 1 });
    };
    expect(await priceAt(price, content)).toMatchObject({ bill: { dueRecords: 1 }, lacksTarget: true });
  });

  it('does not wait for the content if nothing is due', async () => {
    const { quote, ended } = silent();
    const stored: Quote = async () => ({ status: 'stored' });
    expect(await priceAt(stored, quote)).toMatchObject({ bill: { dueRecords: 0 }, lacksTarget: false });
    await ended;
  });

  it('ends the question about the content if there is no price', async () => {
    const { quote, ended } = silent();
    const failing: Quote = () => Promise.reject(new Error('no price'));
    await expect(priceAt(failing, quote)).rejects.toThrow('no price');
    await ended;
  });

  it('ends with the reason of the user who stops', async () => {
    const { quote, ended } = silent();
    const reason = new Error('The user stopped.');
    setTimeout(() => stopping.abort(reason), 20);
    await expect(priceAt(async () => offer(due), quote)).rejects.toBe(reason);
    await ended;
  });

  it('counts the content as present if nothing tells otherwise', async () => {
    const failing: Quote = () => Promise.reject(new Error('It does not answer.'));
    expect(await priceAt(async () => offer(due), failing)).toMatchObject({ lacksTarget: false });
  });
});
