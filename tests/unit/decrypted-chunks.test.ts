import { describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { DataMap } from '../../src/self-encryption/data-map.ts';
import { deriveKeys } from '../../src/self-encryption/keys.ts';
import { codec, encryptedFile, noise } from './support/encrypted-file.ts';
import { chunksOver, untilAborted } from './support/fake-network.ts';

const blake3 = await loadBlake3();
const addressOf = (bytes: Uint8Array) => Address.fromBytes(blake3(bytes));

describe('a decrypted chunk', () => {
  const plain = noise(3000);

  it('is fetched, stored encrypted, and then found decrypted in memory', async () => {
    const { map, records } = await encryptedFile(plain);
    const { decrypted, peers, store, stats } = chunksOver(records);
    const first = await decrypted.read(map, 1);
    expect(first).toEqual(plain.subarray(1000, 2000));
    expect(store.held.get(map.address(1).hex)).toEqual(records.get(map.address(1).hex));
    expect(await decrypted.read(map, 1)).toBe(first);
    expect(peers.asked).toEqual([map.address(1).hex]);
    expect(stats.snapshot().chunks.memory).toEqual({ count: 1, bytes: 1000 });
    expect(stats.snapshot().chunks.disk.count).toBe(0);
  });

  it('comes from the store if it is not in memory', async () => {
    const { map, records } = await encryptedFile(plain);
    const { decrypted, peers, stats } = chunksOver(records, { memoryBytes: 0 });
    await decrypted.read(map, 1);
    expect(await decrypted.read(map, 1)).toEqual(plain.subarray(1000, 2000));
    expect(peers.asked).toHaveLength(1);
    expect(stats.snapshot().chunks.disk.count).toBe(1);
  });

  it('makes room in memory for newer ones', async () => {
    const { map, records } = await encryptedFile(plain);
    const memoryBytes = 2 * (1000 + limits.chunkEntryBytes);
    const { decrypted, stats } = chunksOver(records, { memoryBytes });
    for (const index of [0, 1, 2, 0]) await decrypted.read(map, index);
    expect(stats.snapshot().chunks.memory.count).toBe(0);
    await decrypted.read(map, 2);
    expect(stats.snapshot().chunks.memory.count).toBe(1);
  });

  it('takes room in memory for more than its bytes', async () => {
    const { map, records } = await encryptedFile(plain.subarray(0, 3));
    const { decrypted, stats } = chunksOver(records, { memoryBytes: 2 * limits.chunkEntryBytes });
    for (const index of [0, 1, 0]) await decrypted.read(map, index);
    expect(stats.snapshot().chunks.memory.count).toBe(0);
  });

  it('that was damaged on disk is dropped and fetched again', async () => {
    const { map, records } = await encryptedFile(plain);
    const { decrypted, peers, store, stats } = chunksOver(records);
    const { hex } = map.address(0);
    const damaged = records.get(hex)!.slice();
    damaged[500]! ^= 1;
    store.held.set(hex, damaged);
    expect(await decrypted.read(map, 0)).toEqual(plain.subarray(0, 1000));
    expect(store.deleted).toEqual([hex]);
    expect(store.held.get(hex)).toEqual(records.get(hex));
    expect(peers.asked).toEqual([hex]);
    expect(stats.snapshot().chunks.damaged).toBe(1);
  });

  it('that does not decrypt because of a wrong map is CORRUPT, and stays in the store', async () => {
    const { map, records } = await encryptedFile(plain);
    const { decrypted, peers, store } = chunksOver(records);
    await decrypted.read(map, 0);
    const wrong = new DataMap(map.dstHashes, new Uint8Array(96), map.sizes);
    await expect(decrypted.read(wrong, 0)).rejects.toMatchObject({ code: 'CORRUPT' });
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
    const { decrypted, peers, store } = chunksOver(records, { memoryBytes: 0 });
    expect(await decrypted.read(odd, 0)).toEqual(plain.subarray(0, 1000));
    expect(await decrypted.read(odd, 0)).toEqual(plain.subarray(0, 1000));
    expect(peers.asked).toHaveLength(1);
    expect(store.deleted).toEqual([]);
  });

  it('needs its keys, not only its address', async () => {
    const { map, records } = await encryptedFile(plain);
    const { chunks, decrypted } = chunksOver(records);
    await decrypted.read(map, 0);
    const guess = new DataMap(map.dstHashes, new Uint8Array(96).fill(1), map.sizes);
    await expect(decrypted.read(guess, 0)).rejects.toMatchObject({ code: 'CORRUPT' });
    expect((await chunks.record(map.address(0))).bytes).toEqual(records.get(map.address(0).hex));
  });

  it('is decrypted once for all callers at the same time', async () => {
    const { map, records } = await encryptedFile(plain);
    const { decrypted, peers, stats } = chunksOver(records);
    const decryptions = await Promise.all([1, 2, 3].map(() => decrypted.read(map, 0)));
    expect(new Set(decryptions).size).toBe(1);
    expect(peers.asked).toHaveLength(1);
    expect(stats.snapshot().chunks.joined).toBe(2);
  });

  it('is not looked up for a caller that has aborted', async () => {
    const { map, records } = await encryptedFile(plain);
    const { decrypted, peers } = chunksOver(records);
    await expect(decrypted.read(map, 0, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(peers.asked).toEqual([]);
  });

  it('is fetched again for a caller that comes just after the last one aborted', async () => {
    const { map, records } = await encryptedFile(plain);
    const { decrypted, peers } = chunksOver(records);
    peers.beforeAnswer = (_, signal) => untilAborted(signal);
    const controller = new AbortController();
    const leaving = decrypted.read(map, 0, controller.signal);
    await vi.waitFor(() => expect(peers.asked).toHaveLength(1));
    peers.beforeAnswer = async () => {};
    controller.abort(new Error('gone'));
    const coming = decrypted.read(map, 0);
    await expect(leaving).rejects.toThrow('gone');
    expect(await coming).toEqual(plain.subarray(0, 1000));
  });
});
