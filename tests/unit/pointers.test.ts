import { afterEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { Chunks } from '../../src/chunks/chunks.ts';
import { DecryptedChunks } from '../../src/content/decrypted-chunks.ts';
import type { PointerMemory } from '../../src/content/pointers.ts';
import { Resolver } from '../../src/content/resolver.ts';
import { AntwayError, type Attempt } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import type { PointerOptions } from '../../src/peers/chunk-peers.ts';
import { Stats } from '../../src/stats/stats.ts';
import { PointerOwner } from '../support/pointers.ts';
import { codec, encryptedFile, type Records } from './support/encrypted-file.ts';
import { MemoryPeers, MemoryStore } from './support/fake-network.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Peers that give these records for pointers, each its own. */
class PointingPeers extends MemoryPeers {
  readonly given = new Map<string, Bytes[]>();
  askedForPointers: string[] = [];
  /** Whether the pointer was known, for each request. */
  known: boolean[] = [];

  async pointers<T>(address: Address, { verify, isKnown }: PointerOptions<T>): Promise<T[]> {
    this.askedForPointers.push(address.hex);
    this.known.push(isKnown);
    const answers = await Promise.allSettled(
      (this.given.get(address.hex) ?? []).map(async (record) => verify(record)),
    );
    return answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
  }
}

class Memory implements PointerMemory {
  readonly kept = new Map<string, Bytes>();
  get = async ({ hex }: Address) => this.kept.get(hex);
  put = async ({ hex }: Address, record: Bytes) => void this.kept.set(hex, record);
}

const text = (version: number) => new TextEncoder().encode(`version ${version} of a page`);
const owner = new PointerOwner(5);

async function setUp(denied: readonly string[] = []) {
  const records: Records = new Map();
  const versions = [];
  for (const version of [0, 1, 2]) versions.push((await encryptedFile(text(version), records)).address);
  const peers = new PointingPeers(records);
  const memory = new Memory();
  const resolver = () => {
    const stats = new Stats();
    const chunks = new Chunks({ codec, store: new MemoryStore(), peers, stats });
    const decrypted = new DecryptedChunks({ chunks, codec, peers, stats, memoryBytes: 1e8 });
    return new Resolver({ chunks, decrypted, peers, pointers: memory, denied: new Set(denied) });
  };
  return { records, versions, peers, memory, resolver };
}

async function read(resolver: Resolver, address = owner.address): Promise<string> {
  const { content } = await resolver.locate(address);
  if (content.kind !== 'file') throw new Error(content.kind);
  return new TextDecoder().decode(await content.source.read(0, content.source.size));
}

const page = (version: number) => new TextDecoder().decode(text(version));
const clock = () => vi.useFakeTimers({ toFake: ['Date'] });

afterEach(() => void vi.useRealTimers());

describe('an address that no chunk has', () => {
  it('is a pointer’s if peers have one, and of what they give the newest counts', async () => {
    const { versions, peers, resolver } = await setUp();
    peers.given.set(
      owner.address.hex,
      [2n, 9n, 4n].map((counter, i) => owner.sign(counter, versions[i]!)),
    );
    const opened = await resolver().locate(owner.address);
    expect([opened.address, opened.isMutable]).toEqual([versions[1], true]);
  });

  it('is NOT_FOUND if they have none, and they are not asked for one again at once', async () => {
    clock();
    const { peers, resolver } = await setUp();
    const one = resolver();
    for (let i = 0; i < 3; i++)
      await expect(one.locate(owner.address)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(peers.askedForPointers).toHaveLength(1);
    vi.advanceTimersByTime(limits.pointerMs.missing);
    await expect(one.locate(owner.address)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(peers.askedForPointers).toHaveLength(2);
  });

  it('is followed as well while a peer is away, if another has no such chunk; otherwise no peer is asked', async () => {
    const { versions, peers, resolver } = await setUp();
    peers.given.set(owner.address.hex, [owner.sign(1n, versions[1]!)]);
    const away: Attempt = {
      peer: 'https://peer.example',
      transport: 'http',
      stage: 'receive',
      code: 'PEERS_UNREACHABLE',
      message: '',
      milliseconds: 0,
    };
    const attempts = [away];
    peers.beforeAnswer = async (hex) => {
      if (hex !== owner.address.hex) return;
      throw new AntwayError('PEERS_UNREACHABLE', 'not all answered', { attempts });
    };
    await expect(resolver().locate(owner.address)).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    expect(peers.askedForPointers).toEqual([]);
    attempts.push({ ...away, code: 'NOT_FOUND' });
    expect(await read(resolver())).toBe('version 1 of a page');
  });

  it('is NOT_FOUND if all they have was not signed by its owner', async () => {
    const { versions, peers, resolver } = await setUp();
    const forged = owner.sign(7n, versions[0]!);
    forged[1960]! += 1; // the counter
    peers.given.set(owner.address.hex, [forged, new PointerOwner(6).sign(8n, versions[0]!)]);
    await expect(resolver().locate(owner.address)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a pointer', () => {
  it('is looked at again after a while, and never goes back', async () => {
    clock();
    const { versions, peers, memory, resolver } = await setUp();
    const give = (counter: bigint, version: number) =>
      peers.given.set(owner.address.hex, [owner.sign(counter, versions[version]!)]);
    const one = resolver();
    give(1n, 0);
    expect(await read(one)).toBe(page(0));
    give(2n, 1);
    expect(await read(one)).toBe(page(0));
    vi.advanceTimersByTime(limits.pointerMs.fresh);
    expect(await read(one)).toBe(page(1));

    give(1n, 0);
    vi.advanceTimersByTime(limits.pointerMs.fresh);
    expect(await read(one)).toBe(page(1));
    // Nor after the worker was stopped: it stores the pointers that it has seen.
    expect(await read(resolver())).toBe(page(1));
    expect(new DataView(memory.kept.get(owner.address.hex)!.buffer).getBigUint64(1953)).toBe(2n);
  });

  it('with the final counter stays as it was first seen, also after the worker was stopped', async () => {
    clock();
    const finalCounter = 2n ** 64n - 1n;
    // In both orders of the two targets.
    for (const [first, later] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const { versions, peers, resolver } = await setUp();
      const give = (version: number) =>
        peers.given.set(owner.address.hex, [owner.sign(finalCounter, versions[version]!)]);
      const one = resolver();
      give(first);
      expect(await read(one)).toBe(page(first));
      give(later);
      vi.advanceTimersByTime(limits.pointerMs.fresh);
      expect(await read(one)).toBe(page(first));
      expect(await read(resolver())).toBe(page(first));
    }
  });

  it('leads where it last did when no peer answers', async () => {
    const { versions, peers, resolver } = await setUp();
    peers.given.set(owner.address.hex, [owner.sign(1n, versions[0]!)]);
    expect(await read(resolver())).toBe(page(0));
    peers.given.clear();
    expect(await read(resolver())).toBe(page(0));
    expect(peers.asked.filter((hex) => hex === owner.address.hex)).toHaveLength(1);
  });

  it('that is known stays valid as long as a found one when no peer answers', async () => {
    clock();
    const { versions, peers, resolver } = await setUp();
    peers.given.set(owner.address.hex, [owner.sign(1n, versions[0]!)]);
    const one = resolver();
    expect(await read(one)).toBe(page(0));
    peers.given.clear();
    vi.advanceTimersByTime(limits.pointerMs.fresh);
    expect(await read(one)).toBe(page(0));
    vi.advanceTimersByTime(limits.pointerMs.fresh - 1);
    expect(await read(one)).toBe(page(0));
    expect(peers.known).toEqual([false, true]);
  });

  it('with a damaged stored record is requested again', async () => {
    const { versions, peers, memory, resolver } = await setUp();
    peers.given.set(owner.address.hex, [owner.sign(3n, versions[2]!)]);
    const damaged = owner.sign(9n, versions[0]!);
    damaged[1970]! ^= 1;
    memory.kept.set(owner.address.hex, damaged);
    expect(await read(resolver())).toBe(page(2));
  });

  it('may lead to another pointer, but not round in circles', async () => {
    const { versions, peers, resolver } = await setUp();
    const [second, third] = [new PointerOwner(6), new PointerOwner(7)];
    peers.given.set(owner.address.hex, [owner.sign(1n, second.address, 'pointer')]);
    peers.given.set(second.address.hex, [second.sign(1n, third.address, 'pointer')]);
    peers.given.set(third.address.hex, [third.sign(1n, versions[2]!)]);
    expect(await read(resolver())).toBe(page(2));

    const [fourth, fifth] = [new PointerOwner(8), new PointerOwner(9)];
    peers.given.set(fourth.address.hex, [fourth.sign(1n, fifth.address, 'pointer')]);
    peers.given.set(fifth.address.hex, [fifth.sign(1n, fourth.address, 'pointer')]);
    await expect(resolver().locate(fourth.address)).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });

  it('that leads to nothing is NOT_FOUND, and one to a chunk leads to no pointer', async () => {
    const { versions, peers, resolver } = await setUp();
    const second = new PointerOwner(6);
    peers.given.set(second.address.hex, [second.sign(1n, versions[0]!)]);
    peers.given.set(owner.address.hex, [owner.sign(1n, second.address, 'chunk')]);
    await expect(resolver().locate(owner.address)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const third = new PointerOwner(7);
    const nowhere = Address.fromHex('ab'.repeat(32));
    peers.given.set(third.address.hex, [third.sign(1n, nowhere, 'pointer')]);
    await expect(resolver().locate(third.address)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('leads to nothing that is denied, and may be denied itself', async () => {
    const { versions } = await setUp();
    const record = owner.sign(1n, versions[0]!);
    for (const denied of [versions[0]!.hex, owner.address.hex]) {
      const { peers, resolver } = await setUp([denied]);
      peers.given.set(owner.address.hex, [record]);
      await expect(resolver().locate(owner.address)).rejects.toMatchObject({ code: 'DENIED' });
    }
  });

  it('leads through no pointer that is denied', async () => {
    const second = new PointerOwner(6);
    const { versions, peers, resolver } = await setUp([second.address.hex]);
    peers.given.set(second.address.hex, [second.sign(1n, versions[0]!)]);
    peers.given.set(owner.address.hex, [owner.sign(1n, second.address, 'pointer')]);
    await expect(resolver().locate(owner.address)).rejects.toMatchObject({ code: 'DENIED' });
  });

  it('can be requested as a raw record', async () => {
    const { versions, peers, resolver } = await setUp();
    const record = owner.sign(1n, versions[0]!);
    peers.given.set(owner.address.hex, [record]);
    const one = resolver();
    expect((await one.locateRecord(owner.address)).bytes).toEqual(record);
    peers.given.clear();
    expect((await one.locateRecord(owner.address)).bytes).toEqual(record);
    expect((await one.locateRecord(versions[0]!)).pointer).toBeUndefined();
  });
});
