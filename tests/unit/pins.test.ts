// @module-tag isolated
import { encode } from '@msgpack/msgpack';
import { set, update } from 'idb-keyval';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { AntwayError, type Attempt } from '../../src/errors.ts';
import { AntError } from '../../src/fetch/ant-error.ts';
import type { PinRecord } from '../../src/library/pin.ts';
import { isHopeless } from '../../src/library/pin-problem.ts';
import { watchedPin } from '../../src/page/pin.ts';
import { codec, encryptedFile, noise, type Records } from './support/encrypted-file.ts';
import { untilAborted } from './support/fake-network.ts';
import { failPuts, freshIndexedDb } from './support/indexed-db.ts';
import { tar, tarMember } from './support/tar.ts';
import { countRows, startWorker } from './support/worker.ts';

type Worker = ReturnType<typeof startWorker>;

const records: Records = new Map();
const nothing: Records = new Map();
const workers: Worker[] = [];
let file: Address;

beforeAll(async () => {
  // A record and three chunks.
  file = (await encryptedFile(noise(9_000), records)).address;
});

beforeEach(() => {
  freshIndexedDb();
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map(({ pins }) => pins.close()));
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function start(known: Records, manifests?: Parameters<typeof startWorker>[1]): Worker {
  const worker = startWorker(known, manifests);
  workers.push(worker);
  return worker;
}

/** Pins the file, and does what can be done for now. */
async function pin(worker: Worker, address = file) {
  await worker.pins.pin(address);
  await worker.pins.work();
  return (await worker.pins.list()).find((each) => each.address === address.hex);
}

/** Reads all of the file, as a user that opens it does. */
async function read({ chunks, store }: Worker): Promise<void> {
  for (const hex of records.keys()) await chunks.record(Address.fromHex(hex));
  await store.flush();
}

/** Something that others wait for. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Lets everything happen that can happen by itself. */
const idle = () => new Promise((resolve) => setTimeout(resolve, 50));
const complete = { state: 'complete', activity: 'idle', problem: null } as const;

describe('of several workers over one database', () => {
  it('a worker pins chunks that another worker stored since its last read', async () => {
    const [here, there] = [start(nothing), start(records)];
    expect((await here.store.sizes()).size).toBe(0);
    await read(there);
    expect(await pin(here)).toMatchObject(complete);
    expect(here.peers.asked).toEqual([]);
  });

  it('a worker learns by writing that another worker has stored a chunk', async () => {
    const [here, there] = [start(nothing), start(records)];
    expect((await here.store.sizes()).size).toBe(0);
    await read(there);
    expect(await here.store.written(file)).toBe('stored');
    expect((await here.store.sizes()).has(file.hex)).toBe(true);
  });

  it('a worker fetches chunks that another worker evicted since its last read', async () => {
    const [here, there] = [start(records), start(records)];
    await read(here);
    expect((await here.store.sizes()).size).toBe(records.size);
    await there.store.setMaxBytes(1);
    expect(await pin(here)).toMatchObject(complete);
    expect(await countRows()).toMatchObject({ chunks: records.size, pinReferences: records.size });
  });

  it('a worker stops when another unpins its site, and leaves no reference', async () => {
    const [here, there] = [start(records), start(records)];
    const { opened, open } = gate();
    here.peers.beforeAnswer = (hex) => (hex === file.hex ? Promise.resolve() : opened);
    await here.pins.pin(file);
    await vi.waitFor(() => expect(here.peers.underWay).toBeGreaterThan(0));
    await there.library.unpin(file);
    await vi.waitFor(async () => expect(await here.pins.list()).toEqual([]));
    open();
    await here.pins.work();
    expect(await countRows()).toMatchObject({ pins: 0, pinReferences: 0 });
  });

  it('a worker does not restore a pin that another worker removed', async () => {
    vi.stubGlobal(
      'BroadcastChannel',
      class {
        postMessage() {}
        close() {}
      },
    );
    const [here, there] = [start(records), start(records)];
    expect(await pin(here)).toMatchObject(complete);
    await there.library.unpin(file);
    expect(await countRows()).toMatchObject({ chunks: 0, pins: 0, pinReferences: 0 });
    await expect(here.pins.verify(file)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await here.pins.list()).toEqual([]);
    expect(await here.store.addPinReferences(file, [file])).toBe(false);
    expect(await countRows()).toMatchObject({ pins: 0, pinReferences: 0 });
  });

  it('a worker lists the pins of another worker', async () => {
    const [here, there] = [start(records), start(records)];
    expect(await here.pins.list()).toEqual([]);
    expect(await pin(there)).toMatchObject(complete);
    await vi.waitFor(async () =>
      expect(await here.pins.list()).toMatchObject([{ address: file.hex, ...complete }]),
    );
  });
});

it('a site that is stored completely gets pin references when it is pinned', async () => {
  const worker = start(records);
  await read(worker);
  // The inventory is known, as after a visit.
  await worker.library.visited({
    address: file.hex,
    path: `/${file}`,
    name: null,
    title: null,
    icon: null,
    kind: 'file',
    lastOpened: 1,
  });
  expect(await pin(worker)).toMatchObject(complete);
  expect(await countRows()).toMatchObject({ pinReferences: records.size });
  await worker.store.setMaxBytes(1);
  expect(await countRows()).toMatchObject({ chunks: records.size });
});

describe('unpinning', () => {
  it('leaves no pin reference if it happens while the entries of a manifest are listed', async () => {
    const members: Records = new Map();
    const list = [];
    for (let i = 0; i < 10; i++) {
      const { address } = await encryptedFile(noise(3_000, 100 + i), members);
      list.push({ path: `${i}.bin`, source: { Public: { address: address.bytes } } });
    }
    const first = Address.fromBytes(list[0]!.source.Public.address);
    const blake3 = await codec.blake3();
    const header = Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]);
    const manifest = new Uint8Array(Buffer.concat([header, encode({ entries: list })]));
    const id = Address.fromBytes(blake3(manifest));
    const worker = start(members, {
      has: async (address) => address.equals(id),
      get: async (address) => (address.equals(id) ? manifest : undefined),
      add: async () => ({ id: id.hex }),
      list: async () => [],
    });
    // The first map has come, and is about to be looked into; the others are on their way.
    const { opened, open } = gate();
    const written = worker.store.written.bind(worker.store);
    worker.store.written = async (address) => {
      const outcome = await written(address);
      await opened;
      return outcome;
    };
    worker.peers.beforeAnswer = (hex, signal) =>
      hex === first.hex ? Promise.resolve() : untilAborted(signal);
    await worker.pins.pin(id);
    await vi.waitFor(async () => expect((await countRows()).chunks).toBe(1));
    const unpinning = worker.library.unpin(id);
    await Promise.race([unpinning, idle()]);
    open();
    await unpinning;
    await worker.pins.work();
    await idle();
    expect(await countRows()).toMatchObject({ pins: 0, pinReferences: 0 });
  });

  it('that a stopped worker has begun is finished at the next start', async () => {
    const before = start(records);
    expect(await pin(before)).toMatchObject(complete);
    await before.pins.close();
    await update<PinRecord>(file.bytes, (record) => ({ ...record!, status: 'removed' }), before.store.pins);
    expect(await countRows()).toMatchObject({ pinReferences: records.size });
    const { pins } = start(records);
    await pins.work();
    expect(await countRows()).toMatchObject({ pins: 0, pinReferences: 0, chunks: 0 });
  });
});

it('an import into a complete pin leaves no other chunks behind', async () => {
  const worker = start(records);
  expect(await pin(worker)).toMatchObject(complete);
  const before = await countRows();
  const description = { format: 'antway-site', version: 1, address: file.hex };
  const blake3 = await codec.blake3();
  const others = Array.from({ length: 20 }, (_, i) => noise(100, i));
  const members = others.map((bytes) =>
    tarMember({ name: Buffer.from(blake3(bytes)).toString('hex') }, bytes),
  );
  const content = tar(tarMember({ name: 'antway-site.json' }, JSON.stringify(description)), ...members);
  expect(await worker.library.import(new Blob([content]).stream())).toMatchObject({
    chunks: 20,
    refused: [],
  });
  await worker.pins.work();
  expect(await countRows()).toEqual(before);
  expect((await worker.pins.list())[0]).toMatchObject(complete);
});

describe('a chunk that cannot be stored', () => {
  it('because of the ceiling is waited for until that changes', async () => {
    const worker = start(records);
    await worker.store.setMaxBytes(6_000);
    const problem = { code: 'TOO_LARGE', isFinal: true };
    expect(await pin(worker)).toMatchObject({ activity: 'waiting', problem });
    const asked = worker.peers.asked.length;
    later();
    await worker.pins.work();
    expect(worker.peers.asked).toHaveLength(asked);
    await worker.store.setMaxBytes(1_000_000);
    worker.pins.retryNow();
    await worker.pins.work();
    expect((await worker.pins.list())[0]).toMatchObject(complete);
  });

  it.each([
    ['the disk is full', 'QuotaExceededError', 'TOO_LARGE'],
    ['storage fails', 'UnknownError', 'INTERNAL'],
  ])('because %s is tried again by itself', async (_, name, code) => {
    const worker = start(records);
    let isBroken = true;
    failPuts('chunks', name, () => isBroken);
    const stopped = await pin(worker);
    expect(stopped).toMatchObject({
      state: 'partial',
      activity: 'waiting',
      problem: { code, isFinal: false },
    });
    expect(stopped!.problem!.message).toContain('The gateway tries again by itself.');
    isBroken = false;
    later();
    await worker.pins.work();
    expect((await worker.pins.list())[0]).toMatchObject(complete);
  });

  it('because the disk is full does not end the wait of a page', async () => {
    const worker = start(records);
    let isFull = true;
    failPuts('chunks', 'QuotaExceededError', () => isFull);
    const stopped = await pin(worker);
    const refused = () => Promise.reject(new Error('The page only looks.'));
    const page = watchedPin(
      {
        closed: new AbortController().signal,
        list: () => worker.pins.list(),
        act: refused,
        remove: refused,
        failure: (code, message) => new AntError(code as 'TOO_LARGE', message),
      },
      stopped!,
      {
        onProgress({ problem }) {
          if (problem?.code !== 'TOO_LARGE') return;
          isFull = false;
          later();
          void worker.pins.work();
        },
      },
    );
    await expect(page.done).resolves.toBeUndefined();
    expect(page.state).toMatchObject(complete);
  });

  /** An hour has gone by. */
  function later(): void {
    const now = Date.now() + 3_600_000;
    vi.spyOn(Date, 'now').mockImplementation(() => now);
  }
});

it('a pin is damaged if a read finds that one of its chunks was lost', async () => {
  const before = start(records);
  expect(await pin(before)).toMatchObject(complete);
  await before.pins.close();

  const worker = start(nothing);
  expect((await worker.pins.list())[0]).toMatchObject(complete);
  const database = await new Promise<IDBDatabase>((resolve) => {
    const request = indexedDB.open('antway-chunks');
    request.onsuccess = () => resolve(request.result);
  });
  await set(file.bytes, new Uint8Array(500).buffer, async (mode, work) =>
    work(database.transaction('chunks', mode).objectStore('chunks')),
  );
  database.close();
  await expect(worker.chunks.record(file)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await worker.pins.list())[0]).toMatchObject({ state: 'damaged' });
  await worker.pins.close();
  // So it is still after a start.
  expect((await start(nothing).pins.list())[0]).toMatchObject({ state: 'damaged' });
});

it('close() resolves after all work has ended, so that nothing is written after a clear', async () => {
  const worker = start(records);
  expect(await pin(worker)).toMatchObject(complete);
  const { opened, open } = gate();
  const get = worker.store.get.bind(worker.store);
  let hasAsked = false;
  worker.store.get = async (address) => {
    hasAsked = true;
    await opened;
    return get(address);
  };
  await worker.pins.verify(file);
  await vi.waitFor(() => expect(hasAsked).toBe(true));
  let isClosed = false;
  const closing = Promise.resolve(worker.pins.close()).then(() => {
    isClosed = true;
  });
  await idle();
  expect(isClosed).toBe(false);
  open();
  await closing;
  await worker.store.clear();
  await idle();
  expect(await countRows()).toEqual({
    chunks: 0,
    metadata: 0,
    totals: 0,
    pinReferences: 0,
    inventories: 0,
    pins: 0,
  });
});

it('tries again if the peers have blocked a chunk, and not if the gateway has', () => {
  const attempts: Attempt[] = [];
  expect(isHopeless(new AntwayError('DENIED', 'by peers', { attempts }))).toBe(false);
  expect(isHopeless(new AntwayError('DENIED', 'by the gateway'))).toBe(true);
});
