import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { paymentError } from '../../src/payment/errors.ts';
import { paidSink } from '../../src/payment/upload.ts';
import type { ChunkSink } from '../../src/publish/upload.ts';
import { NotedSink } from '../../src/shell/publish/noted-sink.ts';
import { memoryJournal } from '../support/memory-journal.ts';

const chunk = { address: Address.fromBytes(new Uint8Array(32)), bytes: new Uint8Array(3) };
const { signal } = new AbortController();
const shortfall = paymentError('SHORTFALL', 'Too few nodes store it.');
const paid: ChunkSink = {
  ...paidSink(new Set(), { relays: [], journal: memoryJournal() }),
  store: () => Promise.reject(shortfall),
};

describe('a publication at peers and in the network', () => {
  it('notes only the chunks that all of them store', async () => {
    const sinks: ChunkSink[] = [{ store: async () => 'stored' }, { store: async () => 'present' }];
    const noted = new NotedSink(sinks);
    expect(await noted.store(chunk, signal)).toBe('stored');
    expect(noted.uploaded).toBe(chunk.address.hex);
    const failing = new NotedSink([...sinks, paid]);
    await expect(failing.store(chunk, signal)).rejects.toBe(shortfall);
    expect(failing.uploaded).toBe('');
  });

  it('continues after trouble with one paid chunk, once the peers are done with it', async () => {
    let finish: () => void = () => undefined;
    const peer: ChunkSink = {
      store: () =>
        new Promise((resolve) => {
          finish = () => resolve('stored');
        }),
    };
    const noted = new NotedSink([peer, paid]);
    let isOver = false;
    const storing = noted.store(chunk, signal).finally(() => {
      isOver = true;
    });
    storing.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    finish();
    await expect(storing).rejects.toBe(shortfall);
    expect(noted.mayContinue(shortfall)).toBe(true);
  });

  it('ends with the error of a peer', async () => {
    const refusal = new Error('The peer refuses.');
    const noted = new NotedSink([paid, { store: () => Promise.reject(refusal) }]);
    await expect(noted.store(chunk, signal)).rejects.toBe(refusal);
    expect(noted.mayContinue(refusal)).toBe(false);
  });
});
