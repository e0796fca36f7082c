import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { Arrivals } from '../../src/chunks/arrivals.ts';
import { Chunks } from '../../src/chunks/chunks.ts';
import { Resolver } from '../../src/content/resolver.ts';
import { limits } from '../../src/limits.ts';
import type { OpenOptions } from '../../src/peers/peer.ts';
import { encodeOpen, type OpenRange } from '../../src/peers/protocol.ts';
import { decodeDataMap } from '../../src/self-encryption/data-map.ts';
import { Stats } from '../../src/stats/stats.ts';
import { MemoryPeers, MemoryStore } from './support/fake-network.ts';
import { codec, type Records, seal } from './support/sealed.ts';

const { signal } = new AbortController();

/** Peers that answer OPEN as the protocol says, for files of which the map itself lists the chunks. */
class OpeningPeers extends MemoryPeers {
  readonly opened: OpenRange[] = [];
  /** Chunks of the file, without its map, that were sent for each request. */
  readonly sent: number[] = [];

  constructor(
    readonly records: Records,
    readonly change: (hex: string, bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined = (
      _,
      bytes,
    ) => bytes,
  ) {
    super(records);
  }

  async open(address: Address, range: OpenRange, { signal, onRecord }: OpenOptions): Promise<void> {
    const request = this.opened.push(range) - 1;
    this.sent[request] = 0;
    const send = async (of: Address) => {
      // As on a link: between two records there is time to say that no more is wanted.
      await new Promise((resolve) => setTimeout(resolve));
      signal.throwIfAborted();
      const bytes = this.change(of.hex, this.records.get(of.hex)!);
      if (bytes) await onRecord(of, bytes);
    };
    await send(address);
    const map = decodeDataMap(this.records.get(address.hex)!)!;
    const start = 'last' in range ? Math.max(map.size - range.last, 0) : range.start;
    const end = 'last' in range || range.length === 0 ? map.size : Math.min(start + range.length, map.size);
    for (let i = map.chunkAt(start); i < map.count && map.offsets[i]! < end; i++) {
      await send(map.address(i));
      this.sent[request]!++;
    }
  }
}

function over(peers: MemoryPeers) {
  const chunks = new Chunks({ codec, store: new MemoryStore(), peers, stats: new Stats(), memoryBytes: 1e8 });
  return { chunks, resolver: new Resolver(chunks) };
}

const text = new TextEncoder().encode('Neither a tar nor a manifest. '.repeat(100));
const wholeFile = { isInside: false, isHead: false };

describe('opening ahead', () => {
  it('brings a file in one request: nothing is asked for again', async () => {
    const { address, records } = await seal(text);
    const peers = new OpeningPeers(records);
    const content = await over(peers).resolver.resolve(address, signal, undefined, wholeFile);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, text.length)).toEqual(text);
    expect(peers.opened).toHaveLength(1);
    expect(peers.asked).toEqual([]);
  });

  it('fetches what did not come', async () => {
    const { address, records } = await seal(text);
    const missing = decodeDataMap(records.get(address.hex)!)!.address(1).hex;
    const peers = new OpeningPeers(records, (hex, bytes) => (hex === missing ? undefined : bytes));
    const content = await over(peers).resolver.resolve(address, signal, undefined, wholeFile);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, text.length)).toEqual(text);
    expect(peers.asked).toEqual([missing]);
  });

  it('refuses what is not what its address says, and fetches it', async () => {
    const { address, records } = await seal(text);
    const lied = decodeDataMap(records.get(address.hex)!)!.address(0).hex;
    const peers = new OpeningPeers(records, (hex, bytes) => (hex === lied ? new Uint8Array(3) : bytes));
    const content = await over(peers).resolver.resolve(address, signal, undefined, wholeFile);
    if (content.kind !== 'file') throw new Error(content.kind);
    expect(await content.source.read(0, text.length)).toEqual(text);
    expect(peers.asked).toContain(lied);
  });

  it('does without it where a source cannot do it', async () => {
    const { address, records } = await seal(text);
    const peers = new MemoryPeers(records);
    const content = await over(peers).resolver.resolve(address, signal, undefined, wholeFile);
    expect(content.kind).toBe('file');
    expect(peers.asked).toContain(address.hex);
  });

  it('asks for the first chunk and the part that was asked for', async () => {
    const { address, records } = await seal(text);
    const peers = new OpeningPeers(records);
    const hint = { isInside: false, isHead: false, range: { last: 10 } };
    await over(peers).resolver.resolve(address, signal, undefined, hint);
    expect(peers.opened).toEqual([{ last: 10 }, { start: 0, length: 1 }]);
    await expect.poll(() => peers.sent).toEqual([1, 1]);
  });

  it('asks only once where the part begins with the file, and gives up what comes twice', async () => {
    const { address, records } = await seal(text);
    for (const [range, sent] of [
      [{ start: 0, length: 10 }, [1]],
      [{ start: 5, length: 10 }, [1, 0]],
      [{ last: text.length }, [3, 0]],
    ] as const) {
      const peers = new OpeningPeers(records);
      await over(peers).resolver.resolve(address, signal, undefined, {
        isInside: false,
        isHead: false,
        range,
      });
      await expect.poll(() => peers.sent).toEqual(sent);
      expect(peers.asked).toEqual([]);
    }
  });

  it('of a small archive gets each chunk once: its end comes with the rest', async () => {
    const { address, records } = await seal(text);
    const peers = new OpeningPeers(records);
    await over(peers).resolver.resolve(address, signal, undefined, { isInside: true, isHead: false });
    await expect.poll(() => peers.sent).toEqual([3, 0]);
    expect(peers.opened).toEqual([{ start: 0, length: limits.openBytes }, { last: limits.indexTailBytes }]);
    expect(peers.asked).toEqual([]);
  });

  it('asks for nothing that is stored', async () => {
    const { address, records } = await seal(text);
    const peers = new OpeningPeers(records);
    const { chunks, resolver } = over(peers);
    await chunks.record(address);
    await resolver.resolve(address, signal, undefined, wholeFile);
    expect(peers.opened).toEqual([]);
  });
});

describe('arrivals', () => {
  const address = Address.fromHex('01'.repeat(32));
  const other = Address.fromHex('02'.repeat(32));

  it('are told apart from what will not come as soon as that is known', async () => {
    const arrivals = new Arrivals();
    arrivals.expect([address]);
    const taken = arrivals.take(other);
    arrivals.prepared();
    expect(await taken).toBeUndefined();
    const expected = arrivals.take(address);
    arrivals.end();
    expect(await expected).toBeUndefined();
  });
});

describe('the OPEN request', () => {
  const address = Address.fromHex('ab'.repeat(32));
  const tail = (range: OpenRange) => Buffer.from(encodeOpen(address, range).subarray(33)).toString('hex');

  it('is op, address, first byte and length, big-endian', () => {
    const frame = encodeOpen(address, { start: 2 ** 33 + 1, length: 5 });
    expect(frame[0]).toBe(5);
    expect(frame.subarray(1, 33)).toEqual(address.bytes);
    expect(tail({ start: 2 ** 33 + 1, length: 5 })).toBe('00000002000000010000000000000005');
  });

  it('means the end of the file by a first byte of all ones', () => {
    expect(tail({ last: 7 })).toBe('ffffffffffffffff0000000000000007');
  });
});
