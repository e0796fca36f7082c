import { describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { VerifiedChunk } from '../../src/chunks/verified-chunk.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { Trace } from '../../src/stats/trace.ts';
import { encryptedFile, noise } from './support/encrypted-file.ts';
import { chunksOver, untilAborted } from './support/fake-network.ts';

const blake3 = await loadBlake3();
const addressOf = (bytes: Uint8Array) => Address.fromBytes(blake3(bytes));

describe('a verified chunk', () => {
  it('is made only of bytes that hash to their address', () => {
    const bytes = noise(1000);
    expect(VerifiedChunk.verify(addressOf(bytes), bytes, blake3).bytes).toBe(bytes);
    expect(() => VerifiedChunk.verify(addressOf(noise(1000, 2)), bytes, blake3)).toThrow(
      expect.objectContaining({ code: 'CORRUPT', details: { address: addressOf(noise(1000, 2)).hex } }),
    );
  });

  it('is never larger than a chunk can be, whatever its hash', () => {
    const largest = new Uint8Array(limits.chunkBytes);
    expect(() => VerifiedChunk.verify(addressOf(largest), largest, blake3)).not.toThrow();
    const tooLarge = new Uint8Array(limits.chunkBytes + 1);
    expect(() => VerifiedChunk.verify(addressOf(tooLarge), tooLarge, blake3)).toThrow(
      expect.objectContaining({ code: 'CORRUPT' }),
    );
  });
});

describe('a record', () => {
  it('comes from the peers once, is stored, and then comes from the store', async () => {
    const { address, records } = await encryptedFile(noise(300));
    const { chunks, peers, store, stats } = chunksOver(records);
    const { bytes } = await chunks.record(address);
    expect(bytes).toEqual(records.get(address.hex));
    expect([...store.held.keys()]).toEqual([address.hex]);
    await chunks.record(address);
    expect(peers.asked).toEqual([address.hex]);
    expect(stats.snapshot().chunks.disk).toEqual({ count: 1, bytes: bytes.length });
  });

  it('that came before it was asked for counts as one of a peer, and later as one of this device', async () => {
    const { address, records } = await encryptedFile(noise(300));
    const { chunks, peers, stats } = chunksOver(records);
    await chunks.receive(VerifiedChunk.verify(address, records.get(address.hex)!, blake3));
    const first = new Trace();
    await chunks.record(address, { trace: first });
    expect(first.chunks).toMatchObject({ peer: 1, disk: 0 });
    expect(stats.snapshot().chunks.disk.count).toBe(0);
    const second = new Trace();
    await chunks.record(address, { trace: second });
    expect(second.chunks).toMatchObject({ peer: 0, disk: 1 });
    expect(peers.asked).toEqual([]);
  });

  it('that was damaged on disk is dropped and fetched again', async () => {
    const { address, records } = await encryptedFile(noise(300));
    const { chunks, peers, store, stats } = chunksOver(records);
    store.held.set(address.hex, new Uint8Array(5));
    expect((await chunks.record(address)).bytes).toEqual(records.get(address.hex));
    expect(store.deleted).toEqual([address.hex]);
    expect(store.held.get(address.hex)).toEqual(records.get(address.hex));
    expect(peers.asked).toEqual([address.hex]);
    expect(stats.snapshot().chunks.damaged).toBe(1);
  });

  it('with wrong bytes from peers is neither returned nor stored', async () => {
    const address = addressOf(noise(10));
    const { chunks, store } = chunksOver(new Map([[address.hex, noise(10, 2)]]));
    await expect(chunks.record(address)).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(store.held.size).toBe(0);
  });

  it('with many callers at the same time is fetched once, and a failure is not remembered', async () => {
    const { address, records } = await encryptedFile(noise(300));
    const { chunks, peers, stats } = chunksOver(records);
    peers.beforeAnswer = async () => {
      peers.beforeAnswer = async () => {};
      throw new TypeError('no network');
    };
    const failing = await Promise.allSettled([1, 2, 3].map(() => chunks.record(address)));
    expect(failing.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(peers.asked).toHaveLength(1);
    expect(stats.snapshot().chunks.joined).toBe(2);
    await expect(chunks.record(address)).resolves.toBeInstanceOf(VerifiedChunk);
  });

  it('is no longer fetched when all callers have aborted', async () => {
    const { address, records } = await encryptedFile(noise(300));
    const { chunks, peers } = chunksOver(records);
    peers.beforeAnswer = (_, signal) => untilAborted(signal);
    const callers = [new AbortController(), new AbortController()];
    const outcomes = Promise.allSettled(callers.map(({ signal }) => chunks.record(address, { signal })));
    await vi.waitFor(() => expect(peers.asked).toHaveLength(1));
    callers[0]!.abort(new Error('first'));
    expect(peers.aborted).toEqual([]);
    callers[1]!.abort(new Error('second'));
    expect(peers.aborted).toEqual([address.hex]);
    expect(await outcomes).toMatchObject([
      { reason: { message: 'first' } },
      { reason: { message: 'second' } },
    ]);
  });
});
