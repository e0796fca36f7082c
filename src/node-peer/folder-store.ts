import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Address } from '../address.ts';
import type { Pointer } from '../content/pointer.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import {
  maxStoredPointers,
  type OpenChunk,
  type PeerStore,
  type PutPointerOutcome,
  refusalOf,
  type StoreTotals,
} from './peer-store.ts';
import { parseStoredPointer, type StoredPointer } from './stored-pointer.ts';
import { syncFolder } from './sync-folder.ts';

/** `chunks/` holds what clients wrote, `pulled/` what the peer in Rust got from its upstreams. */
const classes = ['chunks', 'pulled'] as const;
/** A partial file of this age belongs to a process that was killed. */
const partialFileMs = 60 * 60 * 1000;

/**
 * Chunks in a folder, in the layout of the peer in Rust (docs/explanation/peers.md), so that either can take the folder
 * over from the other. Every file appears by a rename, so both may use the folder for a moment at the same time.
 */
export class FolderPeerStore implements PeerStore {
  readonly #folder: string;
  readonly #blake3: Blake3;
  readonly totals: StoreTotals;
  /** The last change under way for each address. */
  readonly #changes = new Map<string, Promise<void>>();

  private constructor(folder: string, blake3: Blake3, totals: StoreTotals) {
    this.#folder = folder;
    this.#blake3 = blake3;
    this.totals = totals;
  }

  /** Creates the folder if necessary, removes old partial files, and counts the chunks. @throws the errors of `node:fs`. */
  static async open(folder: string, blake3: Blake3): Promise<FolderPeerStore> {
    for (const name of [...classes, 'temporary', 'quarantine']) {
      await mkdir(join(folder, name), { recursive: true });
    }
    await removePartialFiles(folder);
    const totals = { chunks: 0, bytes: 0 };
    for (const name of classes) {
      const files = await readdir(join(folder, name), { recursive: true });
      for (const file of files.filter((path) => /[\\/][0-9a-f]{64}$/.test(path))) {
        const { size } = await stat(join(folder, name, file)).catch(() => ({ size: undefined }));
        if (size === undefined) continue;
        totals.chunks += 1;
        totals.bytes += size;
      }
    }
    return new FolderPeerStore(folder, blake3, totals);
  }

  async size(address: Address): Promise<number | undefined> {
    for (const path of this.#paths(address)) {
      const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (found) return found.size;
    }
    return undefined;
  }

  async read(address: Address): Promise<Uint8Array | undefined> {
    for (const path of this.#paths(address)) {
      const bytes = await readIfExists(path);
      if (bytes && this.#isChunk(bytes, address)) return bytes;
      if (bytes) return (await this.#change(address, () => this.#findOrQuarantine(address)))?.bytes;
    }
    return undefined;
  }

  async open(address: Address): Promise<OpenChunk | undefined> {
    for (const path of this.#paths(address)) {
      const file = await open(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (!file) continue;
      return {
        async read(start, end) {
          const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
          return buffer.subarray(0, bytesRead);
        },
        close: () => file.close(),
      };
    }
    return undefined;
  }

  async write(address: Address, bytes: Uint8Array): Promise<'stored' | 'present' | 'full'> {
    return this.#change(address, () => unlessFull(() => this.#writeAlone(address, bytes)));
  }

  /** Runs when no other change of this address is under way. */
  async #writeAlone(address: Address, bytes: Uint8Array): Promise<'stored' | 'present'> {
    const path = this.#paths(address)[0]!;
    const found = await this.#findOrQuarantine(address);
    // A chunk that a client writes moves to `chunks/`, so that the peer in Rust does not evict it like a pulled one.
    if (found && (found.path === path || (await moveIfExists(found.path, path)))) return 'present';
    await this.#writeDurably(path, bytes);
    if (found) return 'present'; // another process has taken its file away meanwhile
    this.totals.chunks += 1;
    this.totals.bytes += bytes.length;
    return 'stored';
  }

  /** Runs when no other change of this address is under way. */
  async #findOrQuarantine(
    address: Address,
  ): Promise<{ path: string; bytes: Uint8Array<ArrayBuffer> } | undefined> {
    for (const path of this.#paths(address)) {
      const bytes = await readIfExists(path);
      if (bytes && this.#isChunk(bytes, address)) return { path, bytes };
      if (bytes) await this.#quarantine(path, address, bytes.length);
    }
    return undefined;
  }

  /** Runs the work after all earlier changes of this address. */
  async #change<T>({ hex }: Address, work: () => Promise<T>): Promise<T> {
    const result = (this.#changes.get(hex) ?? Promise.resolve()).then(work);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.#changes.set(hex, settled);
    try {
      return await result;
    } finally {
      if (this.#changes.get(hex) === settled) this.#changes.delete(hex);
    }
  }

  async pointer(address: Address): Promise<Uint8Array | undefined> {
    return (await this.#storedPointer(address))?.record;
  }

  async writePointer(address: Address, pointer: Pointer): Promise<PutPointerOutcome> {
    return this.#change(address, () =>
      unlessFull(async () => {
        const stored = await this.#storedPointer(address);
        const refusal = stored && refusalOf(pointer, stored);
        if (refusal) return refusal;
        const path = this.#pointerPath(address);
        // A damaged file is replaced, so it needs no more room.
        if (!(await exists(path)) && (await this.#pointerCount()) >= maxStoredPointers) return 'full';
        await this.#writeDurably(path, pointer.record);
        // An older state must not come back after a crash.
        await syncFolder(dirname(path));
        return 'stored';
      }),
    );
  }

  async #storedPointer(address: Address): Promise<StoredPointer | undefined> {
    const record = await readIfExists(this.#pointerPath(address));
    const stored = record && parseStoredPointer(record, address);
    if (record && !stored) {
      console.error(`The file ${address.hex} in pointers/ is not a pointer of this address.`);
    }
    return stored;
  }

  #pointerPath({ hex }: Address): string {
    return join(this.#folder, 'pointers', hex);
  }

  async #pointerCount(): Promise<number> {
    const names = await readdir(join(this.#folder, 'pointers')).catch(() => []);
    return names.length;
  }

  #paths({ hex }: Address): string[] {
    return classes.map((name) => join(this.#folder, name, hex.slice(0, 2), hex.slice(2, 4), hex));
  }

  #isChunk(bytes: Uint8Array, address: Address): boolean {
    return Address.fromBytes(this.#blake3(bytes)).hex === address.hex;
  }

  async #quarantine(path: string, { hex }: Address, length: number): Promise<void> {
    await moveIfExists(path, join(this.#folder, 'quarantine', `${hex}.${Date.now()}`));
    this.totals.chunks -= 1;
    this.totals.bytes -= length;
    console.error(`The stored chunk ${hex} is damaged. Its file is in quarantine/ now.`);
  }

  async #writeDurably(path: string, bytes: Uint8Array): Promise<void> {
    // Not in `temporary/`, which the peer in Rust empties when it starts.
    const temporary = join(this.#folder, `${randomUUID()}.partial`);
    try {
      const file = await open(temporary, 'wx');
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await mkdir(dirname(path), { recursive: true });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

/** Runs a write. @returns `full` if the disk has no room. */
async function unlessFull<T>(write: () => Promise<T>): Promise<T | 'full'> {
  try {
    return await write();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOSPC', 'EDQUOT'].includes(code)) return 'full';
    throw error;
  }
}

/** Removes the partial files of processes that were killed. */
async function removePartialFiles(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((name) => name.endsWith('.partial'))) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > partialFileMs) await unlink(path).catch(() => undefined);
  }
}

/** @returns whether the file existed. */
async function moveIfExists(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function readIfExists(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
