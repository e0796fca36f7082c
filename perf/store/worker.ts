/** Measures the chunk store where it runs: in a worker. Times are milliseconds, sizes bytes. */

import { promisifyRequest } from 'idb-keyval';
import { Address } from '../../src/address.ts';
import { IndexedDbStore } from '../../src/chunks/indexed-db-store.ts';
import { VerifiedChunk } from '../../src/chunks/verified-chunk.ts';
import { type Blake3, loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { Stats } from '../../src/stats/stats.ts';

export type Ask =
  /** Fills the store. Each chunk is another one. */
  | { what: 'fill'; chunks: number; chunkBytes: number }
  /** Reads so many chunks at random, and what is told without reading any. */
  | { what: 'read'; chunks: number; chunkBytes: number; reads: number }
  /** Halves the ceiling. */
  | { what: 'evict' }
  /** Values as Blobs and as ArrayBuffers, by turns. `…CallMs` is the part of a put that nothing else can run in. */
  | { what: 'blobs'; values: number; valueBytes: number }
  /** Eight reads at a time: in one transaction, and in one each. */
  | { what: 'transactions'; values: number; valueBytes: number };

/** Figures by name: each a list of times, or one. */
export type Measurement = Record<string, number[]>;

/** How long the worker did not come back to its event loop, while something was measured. */
class Stalls {
  longestMs = 0;
  #last = performance.now();
  readonly #channel = new MessageChannel();

  constructor() {
    this.#channel.port1.onmessage = () => {
      const now = performance.now();
      this.longestMs = Math.max(this.longestMs, now - this.#last);
      this.#last = now;
      this.#channel.port2.postMessage(undefined);
    };
    this.#channel.port2.postMessage(undefined);
  }

  /** Begins anew after what is the measurement’s own work, and not the store’s. */
  restart(): void {
    this.#last = performance.now();
  }

  stop(): number {
    this.#channel.port1.close();
    return this.longestMs;
  }
}

let blake3: Blake3;
const noise = new Uint8Array(4 * 1024 * 1024);
for (let at = 0; at < noise.length; at += 65_536) {
  // The same in every worker, so that each finds what the one before it stored.
  let state = at + 1;
  for (let i = at; i < at + 65_536; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    noise[i] = state >>> 24;
  }
}

/** Chunk number `i`. */
function chunk(i: number, bytes: number): VerifiedChunk {
  const own = noise.slice(0, bytes);
  new DataView(own.buffer).setUint32(0, i);
  return VerifiedChunk.verify(Address.fromBytes(blake3(own)), own, blake3);
}

async function timed<T>(work: () => Promise<T>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function fill({ chunks, chunkBytes }: Extract<Ask, { what: 'fill' }>): Promise<Measurement> {
  const store = new IndexedDbStore(new Stats());
  const puts: number[] = [];
  const stalls = new Stalls();
  let madeMs = 0;
  const startedAt = performance.now();
  for (let i = 0; i < chunks; i++) {
    const makingAt = performance.now();
    const next = chunk(i, chunkBytes);
    madeMs += performance.now() - makingAt;
    stalls.restart();
    puts.push(await timed(() => store.put(next)));
  }
  await store.flush();
  const totalMs = performance.now() - startedAt - madeMs;
  const summary = await store.summary();
  if (summary.count !== chunks) throw new Error(`${summary.count} of ${chunks} chunks were stored`);
  return { putMs: puts, totalMs: [totalMs], stallMs: [stalls.stop()] };
}

async function read(ask: Extract<Ask, { what: 'read' }>): Promise<Measurement> {
  const store = new IndexedDbStore(new Stats());
  const stalls = new Stalls();
  const first = chunk(0, ask.chunkBytes).address;
  const openMs = await timed(() => store.get(first));
  const totals: number[] = [];
  for (let i = 0; i < 50; i++) totals.push(await timed(() => store.summary()));
  const sizesMs = await timed(() => store.sizes());
  const gets: number[] = [];
  for (let i = 0; i < ask.reads; i++) {
    const { address } = chunk(Math.floor(Math.random() * ask.chunks), ask.chunkBytes);
    stalls.restart();
    gets.push(
      await timed(async () => {
        if (!(await store.get(address))) throw new Error('a chunk is missing');
      }),
    );
  }
  return { openMs: [openMs], totalsMs: totals, sizesMs: [sizesMs], getMs: gets, stallMs: [stalls.stop()] };
}

async function evict(): Promise<Measurement> {
  const store = new IndexedDbStore(new Stats());
  const before = await store.summary();
  const stalls = new Stalls();
  const totalMs = await timed(() => store.setMaxBytes(before.bytes / 2));
  const after = await store.summary();
  if (after.bytes > before.bytes / 2) throw new Error('the store exceeds its limit');
  return { totalMs: [totalMs], chunks: [before.count - after.count], stallMs: [stalls.stop()] };
}

async function scratchStore(): Promise<IDBDatabase> {
  await promisifyRequest(indexedDB.deleteDatabase('scratch'));
  const request = indexedDB.open('scratch', 1);
  request.onupgradeneeded = () => void request.result.createObjectStore('values');
  return promisifyRequest(request);
}

async function blobs({ values, valueBytes }: Extract<Ask, { what: 'blobs' }>): Promise<Measurement> {
  const result: Measurement = {
    bufferCallMs: [],
    blobCallMs: [],
    bufferPutMs: [],
    blobPutMs: [],
    bufferGetMs: [],
    blobGetMs: [],
  };
  const database = await scratchStore();
  for (let i = 0; i < values; i++) {
    const { bytes } = chunk(i, valueBytes);
    for (const name of i % 2 === 0 ? (['buffer', 'blob'] as const) : (['blob', 'buffer'] as const)) {
      const startedAt = performance.now();
      const transaction = database.transaction('values', 'readwrite', { durability: 'relaxed' });
      transaction
        .objectStore('values')
        .put(name === 'blob' ? new Blob([bytes]) : bytes.buffer, `${name} ${i}`);
      result[`${name}CallMs`]!.push(performance.now() - startedAt);
      await promisifyRequest(transaction);
      result[`${name}PutMs`]!.push(performance.now() - startedAt);
    }
  }
  for (let i = 0; i < values; i++) {
    for (const name of i % 2 === 0 ? (['blob', 'buffer'] as const) : (['buffer', 'blob'] as const)) {
      const getMs = await timed(async () => {
        const value = await promisifyRequest<ArrayBuffer | Blob>(
          database.transaction('values').objectStore('values').get(`${name} ${i}`),
        );
        const bytes = value instanceof Blob ? await value.arrayBuffer() : value;
        if (bytes.byteLength !== valueBytes) throw new Error('a value has another size');
      });
      result[`${name}GetMs`]!.push(getMs);
    }
  }
  database.close();
  return result;
}

async function transactions(ask: Extract<Ask, { what: 'transactions' }>): Promise<Measurement> {
  const database = await scratchStore();
  const writing = database.transaction('values', 'readwrite');
  for (let i = 0; i < ask.values; i++) {
    writing.objectStore('values').put(chunk(i, ask.valueBytes).bytes.buffer, i);
  }
  await promisifyRequest(writing);
  const result: Measurement = { oneMs: [], eachMs: [] };
  for (let at = 0; at + 8 <= ask.values; at += 8) {
    const keys = Array.from({ length: 8 }, (_, i) => at + i);
    const one = () => {
      const values = database.transaction('values').objectStore('values');
      return Promise.all(keys.map((key) => promisifyRequest(values.get(key))));
    };
    const each = () =>
      Promise.all(
        keys.map((key) => promisifyRequest(database.transaction('values').objectStore('values').get(key))),
      );
    const isEven = (at / 8) % 2 === 0;
    if (isEven) result.oneMs!.push(await timed(one));
    result.eachMs!.push(await timed(each));
    if (!isEven) result.oneMs!.push(await timed(one));
  }
  database.close();
  return result;
}

function measure(ask: Ask): Promise<Measurement> {
  switch (ask.what) {
    case 'fill':
      return fill(ask);
    case 'read':
      return read(ask);
    case 'evict':
      return evict();
    case 'blobs':
      return blobs(ask);
    case 'transactions':
      return transactions(ask);
  }
}

self.onmessage = async ({ data }: MessageEvent<Ask>) => {
  try {
    blake3 = await loadBlake3();
    self.postMessage({ measurement: await measure(data) });
  } catch (error) {
    self.postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
};
