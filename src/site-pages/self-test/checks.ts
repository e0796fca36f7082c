import { parseServerConfig } from '../../config.ts';
import { PeerUrl } from '../../peer-url.ts';
import { probePeer } from '../../peers/probe.ts';
import type { ServerConfig, TransportChoice } from '../../server-config.ts';
import { controlledByWorker } from '../worker.ts';
import { readContent } from './read-content.ts';
import type { CheckId, Facts, State } from './report.ts';
import { connectInPage } from './web-rtc.ts';

interface Check {
  needed: boolean;
  run(signal: AbortSignal): Promise<Facts>;
}

export type Checks = Readonly<Record<CheckId, Check>>;

/** The reason why a check cannot run here. */
export class Inapplicable extends Error {
  override readonly name = 'Inapplicable';

  constructor(
    readonly state: Extract<State, 'missing' | 'skipped'>,
    readonly code: 'NOT_SUPPORTED' | 'NOTHING_TO_TEST' | 'NO_WORKER',
    message: string,
  ) {
    super(message);
  }
}

/** The database of the check, which deletes it. Deleting all data deletes databases with this prefix. */
const databaseName = 'antway-self-test';

/** One chunk and a half: IndexedDB stores large values in files of their own. */
const storedBytes = 6 * 1024 * 1024;

/**
 * A module with one function that copies 7 into all lanes of a vector and returns one of them: `i8x16.splat`,
 * `i8x16.extract_lane_u`.
 */
const simdModule = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 97, 0, 0],
  ...[10, 11, 1, 9, 0, 65, 7, 253, 15, 253, 22, 3, 11],
);

/** All checks. They use the host's configuration and its recommended site, and nothing of the user's. */
export function createChecks(): Checks {
  let config: Promise<ServerConfig> | undefined;
  const hostConfig = () => (config ??= fetchConfig());
  const probe = async (choice: TransportChoice, signal: AbortSignal) => {
    const { peers = ['/'] } = await hostConfig();
    if (peers[0] === undefined) throw nothing('The host names no peer.');
    const peer = PeerUrl.parse(peers[0], location.origin);
    if (choice === 'http' ? peer.certificateHashes.length > 0 : peer.kind !== 'antway') {
      throw nothing('The host’s first peer does not have this transport.');
    }
    const { info, firstByteMs } = await probePeer(peer, choice, signal);
    return { firstByteMs, peerVersion: info?.version ?? null };
  };
  return {
    serviceWorker: { needed: true, run: installWorker },
    indexedDb: { needed: true, run: storeAndRead },
    storage: { needed: false, run: describeStorage },
    streams: { needed: true, run: streamSlowly },
    webCrypto: { needed: true, run: hash },
    wasmSimd: { needed: false, run: computeWithVectors },
    webLocks: { needed: false, run: waitForLock },
    broadcastChannel: { needed: true, run: broadcast },
    http: { needed: false, run: (signal) => probe('http', signal) },
    webTransport: {
      needed: false,
      run: async (signal) => {
        if (!('WebTransport' in globalThis)) throw missing('WebTransport');
        return probe('webtransport', signal);
      },
    },
    webRtc: {
      needed: false,
      run: async (signal) => {
        if (!('RTCPeerConnection' in globalThis)) throw missing('RTCPeerConnection');
        return { echoMs: await connectInPage(signal) };
      },
    },
    content: {
      // It also fails if no peer has the content.
      needed: false,
      run: async (signal) => {
        if (!navigator.serviceWorker?.controller) {
          throw new Inapplicable('skipped', 'NO_WORKER', 'There is no worker that could fetch content.');
        }
        const { sample } = await hostConfig();
        if (!sample) throw nothing('The host recommends no site.');
        return readContent(sample.address, signal);
      },
    },
  };
}

function missing(name: string): Inapplicable {
  return new Inapplicable('missing', 'NOT_SUPPORTED', `This browser does not have ${name}.`);
}

function nothing(message: string): Inapplicable {
  return new Inapplicable('skipped', 'NOTHING_TO_TEST', message);
}

/** @throws AntwayError `BAD_CONFIG`. */
async function fetchConfig(): Promise<ServerConfig> {
  const response = await fetch('/antway.json', { credentials: 'omit' });
  return response.ok ? parseServerConfig(await response.json()) : {};
}

async function installWorker(): Promise<Facts> {
  const wasInstalled = Boolean(navigator.serviceWorker?.controller);
  await controlledByWorker();
  return { wasInstalled };
}

async function storeAndRead(): Promise<Facts> {
  if (!('indexedDB' in globalThis)) throw missing('IndexedDB');
  const bytes = new Uint8Array(storedBytes);
  for (let start = 0; start < bytes.length; start += 65_536) {
    crypto.getRandomValues(bytes.subarray(start, start + 65_536));
  }
  const opening = indexedDB.open(databaseName);
  opening.onupgradeneeded = () => opening.result.createObjectStore('values');
  const database = await resultOf(opening);
  try {
    const startedAt = performance.now();
    const writing = database.transaction('values', 'readwrite');
    writing.objectStore('values').put(bytes, 'bytes');
    writing.objectStore('values').put(new Blob([bytes]), 'blob');
    await new Promise<void>((resolve, reject) => {
      writing.oncomplete = () => resolve();
      writing.onabort = writing.onerror = () => reject(writing.error);
    });
    const writtenAt = performance.now();
    const values = database.transaction('values').objectStore('values');
    const [stored, blob] = await Promise.all([resultOf(values.get('bytes')), resultOf(values.get('blob'))]);
    const fromBlob = new Uint8Array(await new Response(blob).arrayBuffer());
    const isSame = [stored, fromBlob].every(
      (read: Uint8Array) => read.length === bytes.length && read.every((byte, at) => byte === bytes[at]),
    );
    if (!isSame) throw new Error('The database returned other bytes than it was given.');
    return {
      bytes: 2 * storedBytes,
      writeMs: Math.round(writtenAt - startedAt),
      readMs: Math.round(performance.now() - writtenAt),
    };
  } finally {
    database.close();
    indexedDB.deleteDatabase(databaseName);
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function describeStorage(): Promise<Facts> {
  const { storage, permissions } = navigator;
  if (!storage) throw missing('the StorageManager');
  const { quota = null, usage = null } = (await storage.estimate?.()) ?? {};
  const permission = await permissions?.query({ name: 'persistent-storage' }).catch(() => undefined);
  return {
    quotaBytes: quota,
    usedBytes: usage,
    isPersistent: (await storage.persisted?.()) ?? null,
    permission: permission?.state ?? null,
  };
}

/** Checks that a stream requests no more pieces than its consumer takes. */
async function streamSlowly(): Promise<Facts> {
  const pieces = 64;
  let requested = 0;
  const source = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        requested += 1;
        controller.enqueue(new Uint8Array(65_536).fill(requested));
        if (requested === pieces) controller.close();
      },
    },
    { highWaterMark: 2 },
  );
  const reader = source.pipeThrough(new TransformStream<Uint8Array, Uint8Array>()).getReader();
  await reader.read();
  // A stream without back-pressure uses this time to request everything.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const ahead = requested;
  if (ahead > 8) throw new Error(`The stream requested ${ahead} pieces for one.`);
  let read = 1;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    read += 1;
    if (next.value[0] !== read) throw new Error('The stream returned its pieces in another order.');
  }
  if (read !== pieces) throw new Error(`The stream returned ${read} pieces of ${pieces}.`);
  return { requestedAhead: ahead, byteStreams: 'ReadableByteStreamController' in globalThis };
}

async function hash(): Promise<Facts> {
  if (!globalThis.crypto?.subtle) throw missing('WebCrypto on this page');
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc')));
  if (digest[0] !== 0xba || digest[31] !== 0xad) throw new Error('SHA-256 returned a wrong hash.');
  const has = (format: string, algorithm: string, usage: KeyUsage) =>
    crypto.subtle.importKey(format as 'raw', new Uint8Array(32), algorithm, false, [usage]).then(
      () => true,
      () => false,
    );
  return {
    chaCha20Poly1305: await has('raw-secret', 'ChaCha20-Poly1305', 'decrypt'),
    ed25519: await has('raw', 'Ed25519', 'verify'),
  };
}

async function computeWithVectors(): Promise<Facts> {
  if (!('WebAssembly' in globalThis)) throw missing('WebAssembly');
  if (!WebAssembly.validate(simdModule)) throw missing('SIMD in WebAssembly');
  const { instance } = await WebAssembly.instantiate(simdModule);
  const result = (instance.exports as { a(): number }).a();
  if (result !== 7) throw new Error(`The module returned ${result}.`);
  return {};
}

/** Checks that two holders never have a lock at the same time. */
async function waitForLock(): Promise<Facts> {
  const { locks } = navigator;
  if (!locks) throw missing('Web Locks');
  let holders = 0;
  let most = 0;
  const hold = () =>
    locks.request('antway-self-test', async () => {
      holders += 1;
      most = Math.max(most, holders);
      await new Promise((resolve) => setTimeout(resolve, 5));
      holders -= 1;
    });
  await Promise.all([hold(), hold(), hold()]);
  if (most !== 1) throw new Error(`${most} holders had the lock at the same time.`);
  return {};
}

async function broadcast(signal: AbortSignal): Promise<Facts> {
  if (!('BroadcastChannel' in globalThis)) throw missing('BroadcastChannel');
  const [from, to] = [new BroadcastChannel('antway-self-test'), new BroadcastChannel('antway-self-test')];
  try {
    const id = crypto.randomUUID();
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      // Another tab may run this check, too.
      to.onmessage = ({ data }) => data === id && resolve();
      from.postMessage(id);
    });
    return {};
  } finally {
    from.close();
    to.close();
  }
}
