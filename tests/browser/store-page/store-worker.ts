/** The chunk store and the pins over it, with peers in memory, in a worker that can be ended at any time. */

import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import { createStore } from 'idb-keyval';
import { Address } from '../../../src/address.ts';
import { Chunks } from '../../../src/chunks/chunks.ts';
import { IndexedDbStore } from '../../../src/chunks/indexed-db-store.ts';
import { DataMaps } from '../../../src/content/data-maps.ts';
import { DecryptedChunks } from '../../../src/content/decrypted-chunks.ts';
import { AntwayError } from '../../../src/errors.ts';
import { Library } from '../../../src/library/library.ts';
import type { ChunkPeers } from '../../../src/peers/chunk-peers.ts';
import { Codec } from '../../../src/self-encryption/codec.ts';
import { Stats } from '../../../src/stats/stats.ts';
import type { StoredFile, WorkerCommand, WorkerState } from './store-page.ts';

let files: StoredFile[] = [];
/** Chunks that were asked of peers. */
let fetched = 0;
let records = new Map<string, Uint8Array<ArrayBuffer>>();

const peers: ChunkPeers = {
  async fetch(address, { verify }) {
    fetched++;
    await new Promise((resolve) => setTimeout(resolve));
    const bytes = records.get(address.hex);
    if (!bytes) throw new AntwayError('NOT_FOUND', 'There is no such record.');
    return verify(bytes.slice());
  },
};
const stats = new Stats();
const store = new IndexedDbStore(stats, 1);
const codec = new Codec({ brotliDecoderWasm: () => fetch(decoderWasmUrl) });
// No decrypted chunk stays in memory, so every read is one of the store.
const chunks = new Chunks({ codec, store, peers, stats });
const decrypted = new DecryptedChunks({ chunks, codec, peers, stats, memoryBytes: 0 });
const manifests = {
  has: async () => false,
  get: async () => undefined,
  add: () => Promise.reject(new Error('There are no manifests here.')),
  list: () => Promise.resolve([]),
};
const library = new Library({
  store,
  chunks,
  decrypted,
  maps: new DataMaps(),
  manifests,
  denied: new Set(),
  stats,
  settings: createStore('antway-test', 'settings'),
  onPins: () => {},
  onVisits: () => {},
});

async function run(command: WorkerCommand): Promise<unknown> {
  const file = 'file' in command ? files[command.file]! : undefined;
  const address = file && Address.fromHex(file.address);
  switch (command.do) {
    case 'start':
      files = command.files;
      records = new Map(files.flatMap(({ records }) => records));
      await store.setMaxBytes(command.maxBytes);
      return;
    case 'read':
      await Promise.all(file!.records.map(([hex]) => chunks.record(Address.fromHex(hex))));
      break;
    case 'pin':
      await library.pins.pin(address!);
      await library.pins.work();
      break;
    case 'unpin':
      await library.unpin(address!);
      break;
    case 'verify':
      await library.pins.verify(address!);
      await library.pins.work();
      break;
    case 'forget':
      await library.forget(address!);
      break;
    case 'limit':
      await store.setMaxBytes(command.bytes);
      library.pins.retryNow();
      await library.pins.work();
      break;
    case 'pins':
      await library.pins.work();
      break;
  }
  await store.flush();
  return { pins: await library.pins.list(), fetched } satisfies WorkerState;
}

// One after the other is the caller's business: a crash comes in the middle of a command.
self.onmessage = async ({ data }: MessageEvent<WorkerCommand>) => {
  try {
    self.postMessage({ result: await run(data) });
  } catch (error) {
    self.postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
};
