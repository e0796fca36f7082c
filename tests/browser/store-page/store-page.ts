/** Drives the chunk store and the pins in a worker, ends that worker when it is told to, and looks into the database. */

import { equalBytes, toHex } from '../../../src/address.ts';
import type { ListedPin } from '../../../src/library/pin-state.ts';
import { loadBlake3 } from '../../../src/self-encryption/blake3.ts';

/** A file and its records: its own, and its chunks. */
export interface StoredFile {
  address: string;
  records: [address: string, bytes: Uint8Array<ArrayBuffer>][];
}

export type WorkerCommand =
  | { do: 'start'; files: StoredFile[]; maxBytes: number }
  | { do: 'read' | 'pin' | 'unpin' | 'verify' | 'forget'; file: number }
  | { do: 'limit'; bytes: number }
  | { do: 'pins' };

/** The result of a command. */
export interface WorkerState {
  pins: ListedPin[];
  /** Chunks that this worker asked peers for. */
  fetched: number;
}

/** One step of a run. */
export type Step = (Exclude<WorkerCommand, { do: 'start' }> | { do: 'damage'; file: number }) & {
  /** Ends the worker so many milliseconds after the command was given; it is not waited for. */
  crashAfterMs?: number;
};

export interface StorePage {
  /** Runs steps over an empty database. @returns what did not hold, and after which step; null when all did. */
  run(files: { address: string; records: [string, string][] }[], steps: Step[]): Promise<string | null>;
}

const firstMaxBytes = 60_000;
let runs = 0;

class Run {
  readonly #files: StoredFile[];
  #worker!: Worker;
  #maxBytes = firstMaxBytes;
  /** Files that are pinned for certain, and those of which it is not known: the worker ended meanwhile. */
  readonly #pinned = new Set<number>();
  readonly #perhaps = new Set<number>();
  /** After the last step. */
  #settled = { areComplete: true, fetched: 0 };

  constructor(files: StoredFile[]) {
    this.#files = files;
  }

  async begin(): Promise<void> {
    for (const name of ['antway-chunks', 'antway-test']) {
      await new Promise<void>((resolve, reject) => {
        const deleting = indexedDB.deleteDatabase(name);
        deleting.onsuccess = () => resolve();
        deleting.onerror = () => reject(deleting.error);
      });
    }
    await this.#startWorker();
  }

  end(): void {
    this.#worker.terminate();
  }

  /** @returns what does not hold after it. */
  async step(step: Step): Promise<string | undefined> {
    const { crashAfterMs, ...command } = step;
    if (command.do === 'unpin' || command.do === 'verify') {
      // Of what is not pinned it is only an error.
      if (!this.#pinned.has(command.file) || this.#perhaps.has(command.file)) return undefined;
    }
    if (command.do === 'limit') this.#maxBytes = command.bytes;
    if (command.do === 'damage') {
      await this.#damage(command.file);
      // The store checks what it reads, so a pin heals.
      await this.#ask({ do: 'read', file: command.file });
    } else if (crashAfterMs === undefined) {
      await this.#ask(command);
      this.#did(command);
    } else {
      this.#ask(command).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, crashAfterMs));
      this.#worker.terminate();
      if (command.do === 'pin' || command.do === 'unpin') this.#perhaps.add(command.file);
      await this.#startWorker();
    }
    const { pins, fetched } = await this.#ask({ do: 'pins' });
    const before = this.#settled;
    this.#settled = { areComplete: pins.every(({ state }) => state === 'complete'), fetched };
    const wasOnlyLetGo = (step.do === 'unpin' || step.do === 'forget') && crashAfterMs === undefined;
    if (wasOnlyLetGo && before.areComplete && fetched > before.fetched)
      return 'a pin had to be fetched again';
    return this.#settle(pins) ?? (await this.#check(pins));
  }

  #did(command: Exclude<WorkerCommand, { do: 'start' }>): void {
    if (command.do === 'pin') this.#pinned.add(command.file);
    if (command.do === 'unpin') this.#pinned.delete(command.file);
  }

  /** Compares the list of pins with the model's, and learns from it how a crash came out. */
  #settle(pins: ListedPin[]): string | undefined {
    for (const [file, { address }] of this.#files.entries()) {
      const isPinned = pins.some((pin) => pin.address === address);
      if (this.#perhaps.delete(file)) {
        if (isPinned) this.#pinned.add(file);
        else this.#pinned.delete(file);
      }
      if (isPinned !== this.#pinned.has(file)) return `file ${file} is ${isPinned ? '' : 'not '}pinned`;
    }
    return undefined;
  }

  async #startWorker(): Promise<void> {
    this.#worker = new Worker(new URL('./store-worker.ts', import.meta.url), { type: 'module' });
    await this.#ask({ do: 'start', files: this.#files, maxBytes: this.#maxBytes });
  }

  #ask(command: WorkerCommand): Promise<WorkerState> {
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) =>
        'problem' in data ? reject(new Error(data.problem)) : resolve(data.result);
      worker.onerror = (event) => reject(new Error(event.message || 'the worker did not start'));
      worker.postMessage(command);
    });
  }

  /** Changes a byte of a stored chunk. */
  async #damage(file: number): Promise<void> {
    const database = await done(indexedDB.open('antway-chunks'));
    const chunks = database.transaction('chunks', 'readwrite').objectStore('chunks');
    const key = bytesOf(this.#files[file]!.records[0]![0]);
    const stored: ArrayBuffer | undefined = await done(chunks.get(key));
    if (stored) {
      new Uint8Array(stored)[1]! ^= 1;
      await done(chunks.put(stored, key));
    }
    database.close();
  }

  async #check(pins: ListedPin[]): Promise<string | undefined> {
    const blake3 = await loadBlake3();
    const database = await done(indexedDB.open('antway-chunks'));
    const names = ['chunks', 'metadata', 'totals', 'pinReferences'];
    const transaction = database.transaction(names);
    const all = async (name: string) => {
      const store = transaction.objectStore(name);
      const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
      return keys.map((key, i) => [key as ArrayBuffer, values[i]] as const);
    };
    const [chunks, metadata, totals, references] = await Promise.all(names.map(all));
    database.close();

    let total = 0;
    const stored = new Map<string, number>();
    for (const [key, value] of chunks!) {
      const bytes = new Uint8Array(value as ArrayBuffer);
      if (!equalBytes(blake3(bytes), new Uint8Array(key))) return `a stored value does not hash to its key`;
      stored.set(toHex(new Uint8Array(key)), bytes.length);
      total += bytes.length;
    }
    const held = new Set(references!.map(([, { chunk }]) => toHex(chunk as Uint8Array)));
    if (metadata!.length !== chunks!.length) return 'metadata and chunks are not of the same number';
    for (const [key, { size, lastUsed }] of metadata!) {
      const hex = toHex(new Uint8Array(key));
      if (stored.get(hex) !== size) return 'metadata has another size than its chunk';
      if (held.has(hex) !== (lastUsed === undefined)) return 'a chunk is held and evictable, or neither';
    }
    const counted = (totals![0]?.[1] ?? { count: 0, bytes: 0 }) as { count: number; bytes: number };
    if (counted.count !== stored.size || counted.bytes !== total) {
      return `the totals say ${counted.count} and ${counted.bytes}, there are ${stored.size} and ${total}`;
    }
    // Pinned chunks stay, also when the ceiling comes down below their size.
    let heldBytes = 0;
    for (const hex of held) heldBytes += stored.get(hex) ?? 0;
    if (total > Math.max(this.#maxBytes, heldBytes))
      return `${total} bytes, over the ceiling of ${this.#maxBytes}`;

    const wanted = new Set<string>();
    for (const file of this.#pinned) {
      const { address, records } = this.#files[file]!;
      const pin = pins.find((pin) => pin.address === address)!;
      for (const [hex] of records) wanted.add(hex);
      if (pin.state === 'complete') {
        for (const [hex] of records) {
          if (!stored.has(hex)) return `a chunk of file ${file} is lost, whose pin is complete`;
          if (!held.has(hex)) return `a chunk of file ${file} is not held, whose pin is complete`;
        }
      } else if (pin.activity !== 'waiting' || pin.problem?.code !== 'TOO_LARGE') {
        return `the pin of file ${file} is ${pin.state}, ${pin.activity}: ${pin.problem?.message}`;
      }
    }
    for (const hex of held) if (!wanted.has(hex)) return 'a chunk is held by no pin';
    return undefined;
  }
}

const storePage: StorePage = {
  async run(files, steps) {
    runs++;
    const run = new Run(
      files.map(({ address, records }) => ({
        address,
        records: records.map(([hex, base64]) => [
          hex,
          Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)),
        ]),
      })),
    );
    await run.begin();
    try {
      for (const [i, step] of steps.entries()) {
        const problem = await run.step(step);
        if (problem) return `run ${runs}, step ${i} (${JSON.stringify(step)}): ${problem}`;
      }
      return null;
    } finally {
      run.end();
    }
  },
};

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16));
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

Object.assign(globalThis, { storePage });
