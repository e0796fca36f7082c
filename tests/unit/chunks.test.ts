import { describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { VerifiedChunk } from '../../src/chunks/verified-chunk.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { DataMap } from '../../src/self-encryption/data-map.ts';
import { deriveKeys } from '../../src/self-encryption/keys.ts';
import { Trace } from '../../src/stats/trace.ts';
import { codec, encryptedFile, noise } from './support/encrypted-file.ts';
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

describe('a decrypted chunk', () => {
  const plain = noise(3000);

  it('is fetched, stored encrypted, and then found decrypted in memory', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, peers, store, stats } = chunksOver(records);
    const first = await chunks.read(map, 1);
    expect(first).toEqual(plain.subarray(1000, 2000));
    expect(store.held.get(map.address(1).hex)).toEqual(records.get(map.address(1).hex));
    expect(await chunks.read(map, 1)).toBe(first);
    expect(peers.asked).toEqual([map.address(1).hex]);
    expect(stats.snapshot().chunks.memory).toEqual({ count: 1, bytes: 1000 });
    expect(stats.snapshot().chunks.disk.count).toBe(0);
  });

  it('comes from the store if it is not in memory', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, peers, stats } = chunksOver(records, { memoryBytes: 0 });
    await chunks.read(map, 1);
    expect(await chunks.read(map, 1)).toEqual(plain.subarray(1000, 2000));
    expect(peers.asked).toHaveLength(1);
    expect(stats.snapshot().chunks.disk.count).toBe(1);
  });

  it('makes room in memory for newer ones', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, stats } = chunksOver(records, { memoryBytes: 2000 });
    for (const index of [0, 1, 2, 0]) await chunks.read(map, index);
    expect(stats.snapshot().chunks.memory.count).toBe(0);
    await chunks.read(map, 2);
    expect(stats.snapshot().chunks.memory.count).toBe(1);
  });

  it('that was damaged on disk is dropped and fetched again', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, peers, store, stats } = chunksOver(records);
    const { hex } = map.address(0);
    const damaged = records.get(hex)!.slice();
    damaged[500]! ^= 1;
    store.held.set(hex, damaged);
    expect(await chunks.read(map, 0)).toEqual(plain.subarray(0, 1000));
    expect(store.deleted).toEqual([hex]);
    expect(store.held.get(hex)).toEqual(records.get(hex));
    expect(peers.asked).toEqual([hex]);
    expect(stats.snapshot().chunks.damaged).toBe(1);
  });

  it('that does not decrypt because of a wrong map is CORRUPT, and stays in the store', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, peers, store } = chunksOver(records);
    await chunks.read(map, 0);
    const wrong = new DataMap(map.dstHashes, new Uint8Array(96), map.sizes);
    await expect(chunks.read(wrong, 0)).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(store.deleted).toEqual([]);
    expect(store.held.has(map.address(0).hex)).toBe(true);
    expect(peers.asked).toHaveLength(1);
  });

  it('decrypts alike from peers and from the store if the map’s source hash is not the plaintext’s', async () => {
    const { map, records } = await encryptedFile(plain);
    const srcHashes = new Uint8Array(96).fill(7);
    const encrypted = await codec.encrypt(plain.subarray(0, 1000), deriveKeys(srcHashes, 0, 0));
    records.set(addressOf(encrypted).hex, encrypted);
    const dstHashes = map.dstHashes.slice();
    dstHashes.set(addressOf(encrypted).bytes);
    const odd = new DataMap(dstHashes, srcHashes, map.sizes);
    const { chunks, peers, store } = chunksOver(records, { memoryBytes: 0 });
    expect(await chunks.read(odd, 0)).toEqual(plain.subarray(0, 1000));
    expect(await chunks.read(odd, 0)).toEqual(plain.subarray(0, 1000));
    expect(peers.asked).toHaveLength(1);
    expect(store.deleted).toEqual([]);
  });

  it('needs its keys, not only its address', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks } = chunksOver(records);
    await chunks.read(map, 0);
    const guess = new DataMap(map.dstHashes, new Uint8Array(96).fill(1), map.sizes);
    await expect(chunks.read(guess, 0)).rejects.toMatchObject({ code: 'CORRUPT' });
    expect((await chunks.record(map.address(0))).bytes).toEqual(records.get(map.address(0).hex));
  });

  it('is decrypted once for all callers at the same time', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, peers, stats } = chunksOver(records);
    const opened = await Promise.all([1, 2, 3].map(() => chunks.read(map, 0)));
    expect(new Set(opened).size).toBe(1);
    expect(peers.asked).toHaveLength(1);
    expect(stats.snapshot().chunks.joined).toBe(2);
  });

  it('is not looked up for a caller that has aborted', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, peers } = chunksOver(records);
    await expect(chunks.read(map, 0, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(peers.asked).toEqual([]);
  });

  it('is fetched again for a caller that comes just after the last one aborted', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, peers } = chunksOver(records);
    peers.beforeAnswer = (_, signal) => untilAborted(signal);
    const controller = new AbortController();
    const leaving = chunks.read(map, 0, controller.signal);
    await vi.waitFor(() => expect(peers.asked).toHaveLength(1));
    peers.beforeAnswer = async () => {};
    controller.abort(new Error('gone'));
    const coming = chunks.read(map, 0);
    await expect(leaving).rejects.toThrow('gone');
    expect(await coming).toEqual(plain.subarray(0, 1000));
  });
});
