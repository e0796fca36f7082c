import { describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { Chunks } from '../../src/chunks/chunks.ts';
import { nodePlatform } from '../../src/cli/platform.ts';
import { DataMaps } from '../../src/content/data-maps.ts';
import { DecryptedChunks } from '../../src/content/decrypted-chunks.ts';
import { takeInventory } from '../../src/content/inventory.ts';
import { Prefetcher } from '../../src/content/prefetcher.ts';
import { prefetchParts } from '../../src/content/read-hint.ts';
import { Resolver } from '../../src/content/resolver.ts';
import { AntwayError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import type { PrefetchOptions } from '../../src/peers/chunk-peers.ts';
import { encodeOpen, type PrefetchRange } from '../../src/peers/transports/protocol.ts';
import { Codec } from '../../src/self-encryption/codec.ts';
import {
  type DataMap,
  decodeDataMap,
  encodeDataMap,
  MapBuilder,
} from '../../src/self-encryption/data-map.ts';
import { readInnerMap, unshrink } from '../../src/self-encryption/file.ts';
import { Stats } from '../../src/stats/stats.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { codec, encryptedFile, noise, type Records, shrink } from './support/encrypted-file.ts';
import { MemoryPeers, MemoryStore, untilAborted } from './support/fake-network.ts';

const never = () => new AbortController().signal;

/** Peers that answer OPEN as the protocol says. */
class OpeningPeers extends MemoryPeers {
  readonly opened: PrefetchRange[] = [];
  /** Chunks of the file, without its maps, that were sent for each request. */
  readonly sent: number[] = [];
  /** The outcome of each request. */
  readonly ends: Promise<void>[] = [];
  /** Called before a record is sent; what it waits for, the answer waits for. */
  beforeRecord: (request: number, hex: string, signal: AbortSignal) => Promise<void> = async () => {};
  /** Addresses of the records that the peer sends last. */
  more: Address[] = [];

  constructor(
    readonly records: Records,
    readonly change: (hex: string, bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined = (
      _,
      bytes,
    ) => bytes,
  ) {
    super(records);
  }

  prefetch(address: Address, range: PrefetchRange, options: PrefetchOptions): Promise<void> {
    const request = this.opened.push(range) - 1;
    this.sent[request] = 0;
    const answering = this.#answer(request, address, range, options);
    this.ends.push(answering);
    return answering;
  }

  async #answer(
    request: number,
    address: Address,
    range: PrefetchRange,
    { signal, onRecord }: PrefetchOptions,
  ): Promise<void> {
    const bytesOf = ({ hex }: Address) => this.records.get(hex)!;
    const send = async (of: Address) => {
      // As on a link: between two records there is time to say that no more is wanted.
      await new Promise((resolve) => setTimeout(resolve));
      await this.beforeRecord(request, of.hex, signal);
      signal.throwIfAborted();
      const bytes = this.change(of.hex, bytesOf(of));
      if (bytes) await onRecord(of, bytes);
    };
    await send(address);
    const map = await unshrink(decodeDataMap(bytesOf(address))!, async (level) => {
      for (let chunk = 0; chunk < level.count; chunk++) await send(level.address(chunk));
      return readInnerMap(level, (_, i) => codec.decrypt(level, i, bytesOf(level.address(i))));
    });
    for (const i of chunksOf(map, range)) {
      await send(map.address(i));
      this.sent[request]!++;
    }
    for (const of of this.more) await send(of);
  }
}

/** The indexes of the chunks that the protocol names for a range, in the order of the answer. */
function chunksOf(map: DataMap, range: PrefetchRange): number[] {
  const between = (start: number, end: number) =>
    Array.from({ length: map.count }, (_, i) => i).filter(
      (i) => map.offsets[i]! < end && start < map.offsets[i + 1]!,
    );
  const { size } = map;
  if ('last' in range) return between(size - range.last, size);
  if ('start' in range) return between(range.start, range.length === 0 ? size : range.start + range.length);
  const end = between(size - 64 * 1024, size);
  return [...end, ...between(0, range.endFirst || size).filter((i) => !end.includes(i))];
}

function over(peers: MemoryPeers) {
  const store = new MemoryStore();
  const stats = new Stats();
  const chunks = new Chunks({ codec, store, peers, stats });
  const decrypted = new DecryptedChunks({ chunks, codec, peers, stats, memoryBytes: 1e8 });
  const prefetcher = new Prefetcher({ chunks, decrypted, peers, maps: new DataMaps() });
  return { chunks, decrypted, store, prefetcher, resolver: new Resolver({ chunks, decrypted, peers }) };
}

const text = new TextEncoder().encode('Neither a tar nor a manifest. '.repeat(100));
const wholeFile = { isInside: false, isHead: false };
const archive = { isInside: true, isHead: false };

describe('prefetching', () => {
  it('brings a file in one request: nothing is asked for again', async () => {
    const { address, records } = await encryptedFile(text);
    const peers = new OpeningPeers(records);
    const content = await over(peers).resolver.resolve(address, undefined, undefined, wholeFile);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, text.length)).toEqual(text);
    expect(peers.opened).toHaveLength(1);
    expect(peers.asked).toEqual([]);
  });

  it('decrypts each chunk of nested maps once, also for the inventory of the visit', async () => {
    const file = await encryptedFile(text);
    const { address, records } = await shrink((await shrink(file.map, file.records)).map, file.records);
    const peers = new OpeningPeers(records);
    const store = new MemoryStore();
    // No decrypted chunk stays in memory, as when a video has filled it.
    const ownCodec = new Codec({ ...nodePlatform, aead: 'sodium' });
    const stats = new Stats();
    const chunks = new Chunks({ codec: ownCodec, store, peers, stats });
    const decrypted = new DecryptedChunks({ chunks, codec: ownCodec, peers, stats, memoryBytes: 0 });
    const maps = new DataMaps();
    const decrypt = vi.spyOn(ownCodec, 'decrypt');
    const resolver = new Resolver({ chunks, decrypted, peers, maps });
    const content = await resolver.resolve(address, undefined, undefined, wholeFile);
    expect(content.kind).toBe('file');
    const inventory = await takeInventory(address, {
      maps,
      manifests: { get: async () => undefined },
      denied: new Set(),
      blake3: await codec.blake3(),
      record: async (at) => maps.decode(at, (await chunks.record(at)).bytes),
      read: (map, index) => decrypted.read(map, index),
    });
    // The record of the outer map, and three chunks of each of three maps.
    expect(inventory).toMatchObject({ kind: 'file', isWhole: true });
    expect(inventory.sizes).toHaveLength(10);
    const calls = decrypt.mock.calls.flatMap(([map, index]) =>
      map.childLevel > 0 ? [map.address(index).hex] : [],
    );
    expect(calls).toHaveLength(6);
    expect(new Set(calls).size).toBe(6);
  });

  it('requests a chunk that the prefetch did not bring', async () => {
    const { address, records } = await encryptedFile(text);
    const missing = decodeDataMap(records.get(address.hex)!)!.address(1).hex;
    const peers = new OpeningPeers(records, (hex, bytes) => (hex === missing ? undefined : bytes));
    const content = await over(peers).resolver.resolve(address, undefined, undefined, wholeFile);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, text.length)).toEqual(text);
    expect(peers.asked).toEqual([missing]);
  });

  it('refuses a chunk that does not match its address, and requests it again', async () => {
    const { address, records } = await encryptedFile(text);
    const lied = decodeDataMap(records.get(address.hex)!)!.address(0).hex;
    const peers = new OpeningPeers(records, (hex, bytes) => (hex === lied ? new Uint8Array(3) : bytes));
    const content = await over(peers).resolver.resolve(address, undefined, undefined, wholeFile);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, text.length)).toEqual(text);
    expect(peers.asked).toContain(lied);
  });

  it('uses plain requests if the source cannot prefetch', async () => {
    const { address, records } = await encryptedFile(text);
    const peers = new MemoryPeers(records);
    const content = await over(peers).resolver.resolve(address, undefined, undefined, wholeFile);
    expect(content.kind).toBe('file');
    expect(peers.asked).toContain(address.hex);
  });

  it('asks for the first chunk and the part that was asked for', async () => {
    const { address, records } = await encryptedFile(text);
    const peers = new OpeningPeers(records);
    const hint = { isInside: false, isHead: false, range: { last: 10 } };
    await over(peers).resolver.resolve(address, undefined, undefined, hint);
    expect(peers.opened).toEqual([{ last: 10 }, { start: 0, length: 1 }]);
    await expect.poll(() => peers.sent).toEqual([1, 1]);
  });

  it('asks only once where the part begins with the file, and gives up what comes twice', async () => {
    const { address, records } = await encryptedFile(text);
    for (const [range, sent] of [
      [{ start: 0, length: 10 }, [1]],
      [{ start: 5, length: 10 }, [1, 0]],
      [{ last: text.length }, [3, 0]],
    ] as const) {
      const peers = new OpeningPeers(records);
      await over(peers).resolver.resolve(address, undefined, undefined, {
        isInside: false,
        isHead: false,
        range,
      });
      await expect.poll(() => peers.sent).toEqual(sent);
      expect(peers.asked).toEqual([]);
    }
  });

  it('gets each chunk of a small archive once, in one request', async () => {
    const { address, records } = await encryptedFile(text);
    const peers = new OpeningPeers(records);
    await over(peers).resolver.resolve(address, undefined, undefined, archive);
    await expect.poll(() => peers.sent).toEqual([3]);
    expect(peers.opened).toEqual([{ endFirst: limits.prefetchBytes }]);
    expect(peers.asked).toEqual([]);
  });

  it('opens an archive before its middle arrives: the end with the index comes first, and then the beginning', async () => {
    const files = Array.from({ length: 9 }, (_, i) => ({
      path: `${i}.bin`,
      source: bufferAccess(noise(40_000, i)),
    }));
    const tar = createTarchive(files);
    const { address, map, records } = await encryptedFile(await tar.read(0, tar.size));
    const peers = new OpeningPeers(records);
    const order: number[] = [];
    peers.beforeRecord = async (_, hex, signal) => {
      if (hex === address.hex) return;
      order.push([0, 1, 2].findIndex((i) => map.address(i).hex === hex));
      if (order.length === 3) await untilAborted(signal);
    };
    const content = await over(peers).resolver.resolve(address, undefined, undefined, archive);
    if (content.kind !== 'archive') throw new Error(content.kind);
    expect(await (await content.archive.member('1.bin')!.load()).read(0, 40_000)).toEqual(noise(40_000, 1));
    await expect.poll(() => order).toEqual([2, 0, 1]);
    expect(peers.asked).toEqual([]);
  });

  it('gets of a large archive the end and the first chunk, and cancels the rest', async () => {
    const { address, records } = await claim(50, limits.largestPartBytes);
    const peers = new OpeningPeers(records);
    over(peers).prefetcher.start(address, prefetchParts(archive), never());
    await expect.poll(() => peers.ends.length).toBe(1);
    await expect(peers.ends[0]).rejects.toMatchObject({ name: 'AbortError' });
    expect(peers.sent).toEqual([2]);
  });

  it('asks for nothing that is stored', async () => {
    const { address, records } = await encryptedFile(text);
    const peers = new OpeningPeers(records);
    const { chunks, resolver } = over(peers);
    await chunks.record(address);
    await resolver.resolve(address, undefined, undefined, wholeFile);
    expect(peers.opened).toEqual([]);
  });
});

describe('a nested map', () => {
  /** A file whose map is shrunk twice, so that two levels come before it. */
  async function nested() {
    const { map, records } = await encryptedFile(text);
    const inner = await shrink(map, records);
    return { ...(await shrink(inner.map, records)), inner };
  }

  it('comes with the file: the levels that are being opened hold up what follows them, and nothing is lost', async () => {
    const { address, records } = await nested();
    const peers = new OpeningPeers(records);
    const content = await over(peers).resolver.resolve(address, undefined, undefined, wholeFile);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, text.length)).toEqual(text);
    expect(peers.asked).toEqual([]);
    expect(peers.sent).toEqual([3]);
  });

  it('of which a chunk is left out is completed, and the file still comes ahead', async () => {
    const { address, records, inner } = await nested();
    const missing = inner.map.address(1).hex;
    const peers = new OpeningPeers(records, (hex, bytes) => (hex === missing ? undefined : bytes));
    const content = await over(peers).resolver.resolve(address, undefined, undefined, wholeFile);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, text.length)).toEqual(text);
    expect(peers.asked).toEqual([missing]);
  });

  it('that cannot be completed ends the request, and its peer is not blamed', async () => {
    const { address, records, inner } = await nested();
    const missing = inner.map.address(1).hex;
    const peers = new OpeningPeers(records, (hex, bytes) => (hex === missing ? undefined : bytes));
    peers.beforeAnswer = async () => {
      throw new AntwayError('PEERS_UNREACHABLE', 'no');
    };
    const { resolver } = over(peers);
    await expect(resolver.resolve(address, undefined, undefined, wholeFile)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
    await expect(peers.ends[0]).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('an unrequested chunk', () => {
  const strange = noise(1000);
  const wish = { ...wholeFile, range: { start: 0, length: 10 } };

  async function sending(more: (address: Address, chunks: Address[]) => Address[]) {
    const { address, map, records } = await encryptedFile(text);
    const of = Address.fromBytes((await codec.blake3())(strange));
    records.set(of.hex, strange);
    const peers = new OpeningPeers(records);
    peers.more = more(
      of,
      [0, 1, 2].map((i) => map.address(i)),
    );
    const { resolver, store } = over(peers);
    await resolver.resolve(address, undefined, undefined, wish);
    return { end: peers.ends[0]!, store, of, map };
  }

  it('is CORRUPT even if it matches its address, and is not stored', async () => {
    const { end, store, of } = await sending((of) => [of]);
    await expect(end).rejects.toMatchObject({ code: 'CORRUPT', details: { address: of.hex } });
    expect(store.held.has(of.hex)).toBe(false);
  });

  it('is a chunk that the peer sends twice', async () => {
    const { end } = await sending((_, [first]) => [first!]);
    await expect(end).rejects.toMatchObject({ code: 'CORRUPT' });
  });

  it('is a chunk of the file outside the range', async () => {
    const { end, store, map } = await sending((_, [, second]) => [second!]);
    await expect(end).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(store.held.has(map.address(1).hex)).toBe(false);
  });

  it.each([
    ['noise', () => strange],
    // An array of three in three bytes more, which other decoders read.
    ['a map in another encoding', (record: Uint8Array) => Uint8Array.of(0xdc, 0, 3, ...record.subarray(1))],
  ])('does not count after a record that is no map here (%s): it is not listened to', async (_, encode) => {
    const { map, address: of, records } = await encryptedFile(text);
    const record = Uint8Array.from(encode(records.get(of.hex)!));
    const address = Address.fromBytes((await codec.blake3())(record));
    records.set(address.hex, record);
    const first = map.address(0);
    let end: Promise<unknown> = Promise.resolve();
    let isStopped = false;
    const prefetch = async (_: Address, _range: PrefetchRange, { onRecord, signal }: PrefetchOptions) => {
      end = onRecord(address, record).then(() => {
        isStopped = signal.aborted;
        return onRecord(first, records.get(first.hex)!);
      });
      await end;
    };
    const peers = Object.assign(new MemoryPeers(records), { prefetch });
    const { resolver, store } = over(peers);
    const content = await resolver.resolve(address, undefined, undefined, wholeFile);
    expect(content.kind).toBe('record');
    await expect(end).resolves.toBeUndefined();
    expect(isStopped).toBe(true);
    expect(store.held.has(first.hex)).toBe(false);
    expect(peers.asked).toEqual([]);
  });

  it('is not expected beyond the limit of a prefetch, although the map claims more chunks for the range', async () => {
    const { address, records } = await claim(3 * limits.prefetchedChunks);
    const peers = new OpeningPeers(records);
    over(peers).prefetcher.start(address, [{ range: { start: 0, length: 0 } }], never());
    await expect.poll(() => peers.ends.length).toBe(1);
    await expect(peers.ends[0]).rejects.toMatchObject({ name: 'AbortError' });
    expect(peers.sent[0]).toBe(limits.prefetchedChunks);
  });
});

/** A map that says of many records that each holds `size` bytes. */
async function claim(count: number, size = 1): Promise<{ address: Address; records: Records }> {
  const blake3 = await codec.blake3();
  const records: Records = new Map();
  const store = (bytes: Uint8Array<ArrayBuffer>) => {
    const address = Address.fromBytes(blake3(bytes));
    records.set(address.hex, bytes);
    return address;
  };
  const builder = new MapBuilder(count);
  for (let i = 0; i < count; i++) builder.set(i, store(noise(100, i)).bytes, new Uint8Array(32), size);
  return { address: store(encodeDataMap(builder.build(0))), records };
}

describe('an OPEN that is slow', () => {
  it('holds up nothing but what it was asked for', async () => {
    const { address, records } = await encryptedFile(text);
    const other = await encryptedFile(noise(3000), records);
    const peers = new OpeningPeers(records);
    peers.beforeRecord = (_, hex, signal) => (hex === address.hex ? untilAborted(signal) : Promise.resolve());
    const { resolver } = over(peers);
    const leaving = new AbortController();
    const slow = resolver.resolve(address, leaving.signal, undefined, wholeFile);
    const content = await resolver.resolve(other.address);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, 3000)).toEqual(noise(3000));
    expect(peers.asked).not.toContain(address.hex);
    leaving.abort(new Error('gone'));
    await expect(slow).rejects.toThrow('gone');
  });

  it('does not hold up what another one brings, and its part is expected as soon as the map is known', async () => {
    const { address, map, records } = await encryptedFile(text);
    const peers = new OpeningPeers(records);
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    peers.beforeRecord = async (request) => {
      if (request === 0) await held;
    };
    const { chunks, decrypted, prefetcher } = over(peers);
    const last = { last: 1 };
    prefetcher.start(address, [{ range: last }, { range: { start: 0, length: 1 } }], never());
    expect((await chunks.record(address)).bytes).toEqual(records.get(address.hex));
    await decrypted.read(map, 0);
    const opening = decrypted.read(map, 2);
    goOn();
    await opening;
    expect(peers.asked).toEqual([]);
  });
});

describe('an OPEN whose readers have gone', () => {
  /** A file of which the second chunk does not come before `goOn`. */
  async function held() {
    const { address, map, records } = await encryptedFile(text);
    const peers = new OpeningPeers(records);
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const aborted: string[] = [];
    peers.beforeRecord = async (_, hex, signal) => {
      if (hex !== map.address(1).hex) return;
      signal.addEventListener('abort', () => aborted.push(hex));
      await Promise.race([held, untilAborted(signal)]);
    };
    const readers = [new AbortController(), new AbortController()];
    const { resolver, decrypted } = over(peers);
    await Promise.all(readers.map(({ signal }) => resolver.resolve(address, signal, undefined, wholeFile)));
    return { peers, decrypted, map, readers, aborted, goOn };
  }

  it('is given up with the last of them', async () => {
    const { peers, readers, aborted } = await held();
    readers[0]!.abort();
    expect(aborted).toEqual([]);
    readers[1]!.abort();
    await expect(peers.ends[0]).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('goes on as long as others wait for a chunk of it', async () => {
    const { peers, decrypted, map, readers, aborted, goOn } = await held();
    const waiting = decrypted.read(map, 1);
    await new Promise((resolve) => setTimeout(resolve));
    for (const reader of readers) reader.abort();
    expect(aborted).toEqual([]);
    goOn();
    await waiting;
    expect(peers.asked).toEqual([]);
    await expect(peers.ends[0]).rejects.toMatchObject({ name: 'AbortError' });
    expect(peers.sent).toEqual([2]);
  });
});

describe('the OPEN request', () => {
  const address = Address.fromHex('ab'.repeat(32));
  const tail = (range: PrefetchRange) => Buffer.from(encodeOpen(address, range).subarray(33)).toString('hex');

  it('is op, address, first byte and length, big-endian', () => {
    const frame = encodeOpen(address, { start: 2 ** 33 + 1, length: 5 });
    expect(frame[0]).toBe(5);
    expect(frame.subarray(1, 33)).toEqual(address.bytes);
    expect(tail({ start: 2 ** 33 + 1, length: 5 })).toBe('00000002000000010000000000000005');
  });

  it('encodes the end of the file as a first byte of all ones', () => {
    expect(tail({ last: 7 })).toBe('ffffffffffffffff0000000000000007');
  });

  it('encodes the end and then the beginning as the number before that', () => {
    expect(tail({ endFirst: 7 })).toBe('fffffffffffffffe0000000000000007');
  });
});
