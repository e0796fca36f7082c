import { type Address, equalBytes } from '../address.ts';
import { headEnd, type Pointer } from '../content/pointer.ts';
import type { StoredPointer } from './stored-pointer.ts';

export interface StoreTotals {
  chunks: number;
  bytes: number;
}

/** `outdated`: the store has a larger counter, or the same counter with another target. */
export type PutPointerOutcome = 'stored' | 'present' | 'outdated' | 'full';

export interface OpenChunk {
  /** @param end exclusive, and not behind the end of the chunk. */
  read(start: number, end: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The chunks and pointers of an embedded peer. */
export interface PeerStore {
  readonly totals: StoreTotals;
  /** The number of bytes of a chunk, which are not verified, or undefined. */
  size(address: Address): Promise<number | undefined>;
  /** The chunk's bytes after verification, or undefined. */
  read(address: Address): Promise<Uint8Array | undefined>;
  /** Opens a chunk to read parts of it, which are not verified. */
  open(address: Address): Promise<OpenChunk | undefined>;
  /** Stores a chunk whose bytes have this address. `stored` means that the chunk survives a crash of the process. */
  write(address: Address, bytes: Uint8Array): Promise<'stored' | 'present' | 'full'>;
  /** A pointer record that its owner signed for this address, or undefined. */
  pointer(address: Address): Promise<Uint8Array | undefined>;
  /** Stores a verified pointer if it is newer than the stored one. `stored` means as in `write`. */
  writePointer(address: Address, pointer: Pointer): Promise<PutPointerOutcome>;
}

/** Holds chunks in memory, for a folder that is served while it changes. */
export class MemoryPeerStore implements PeerStore {
  readonly #chunks = new Map<string, Uint8Array>();
  readonly #pointers = new Map<string, Pointer>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get totals(): StoreTotals {
    return { chunks: this.#chunks.size, bytes: this.#bytes };
  }

  async size({ hex }: Address): Promise<number | undefined> {
    return this.#chunks.get(hex)?.length;
  }

  async read({ hex }: Address): Promise<Uint8Array | undefined> {
    return this.#chunks.get(hex);
  }

  async open({ hex }: Address): Promise<OpenChunk | undefined> {
    const bytes = this.#chunks.get(hex);
    return bytes && { read: async (start, end) => bytes.subarray(start, end), close: async () => undefined };
  }

  async write({ hex }: Address, bytes: Uint8Array): Promise<'stored' | 'present' | 'full'> {
    if (this.#chunks.has(hex)) return 'present';
    if (this.#bytes + bytes.length > this.#maxBytes) return 'full';
    this.#chunks.set(hex, bytes);
    this.#bytes += bytes.length;
    return 'stored';
  }

  /** Removes all other chunks. @param addresses in hex. */
  retain(addresses: ReadonlySet<string>): void {
    for (const [hex, bytes] of this.#chunks) {
      if (addresses.has(hex)) continue;
      this.#chunks.delete(hex);
      this.#bytes -= bytes.length;
    }
  }

  async pointer({ hex }: Address): Promise<Uint8Array | undefined> {
    return this.#pointers.get(hex)?.record;
  }

  async writePointer({ hex }: Address, pointer: Pointer): Promise<PutPointerOutcome> {
    const stored = this.#pointers.get(hex);
    const refusal = stored && refusalOf(pointer, stored);
    if (refusal) return refusal;
    if (!stored && this.#pointers.size >= maxStoredPointers) return 'full';
    this.#pointers.set(hex, pointer);
    return 'stored';
  }
}

/** The most pointers of a store that clients may add to: 348 MB. */
export const maxStoredPointers = 65_536;

/** Why a verified pointer does not replace the stored one of the same owner, or undefined. */
export function refusalOf(pointer: Pointer, stored: StoredPointer): 'present' | 'outdated' | undefined {
  if (pointer.counter > stored.counter) return undefined;
  const isSame = equalBytes(pointer.record.subarray(0, headEnd), stored.record.subarray(0, headEnd));
  return isSame ? 'present' : 'outdated';
}
