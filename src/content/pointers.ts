import type { Address } from '../address.ts';
import { equalBytes } from '../address.ts';
import { limits } from '../limits.ts';
import type { ChunkPeers } from '../peers/chunk-peers.ts';
import { LruCache } from '../util/lru-cache.ts';
import { SingleFlight } from '../util/single-flight.ts';
import { newestPointer, type Pointer, parsePointer } from './pointer.ts';

/** Stores the newest seen record of each pointer, so that no peer can lead back to an older one. */
export interface PointerMemory {
  /** Other code of this origin may have changed the record since `put`: verify it again. */
  get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined>;
  put(address: Address, record: Uint8Array<ArrayBuffer>): Promise<void>;
}

interface Lookup {
  /** Undefined if no peer has a pointer. */
  pointer: Pointer | undefined;
  /** No peer is asked before this time, in milliseconds since 1970. */
  until: number;
}

export class Pointers {
  readonly #peers: ChunkPeers;
  readonly #memory: PointerMemory | undefined;
  readonly #lookups = new LruCache<Lookup>(1_000);
  readonly #asking = new SingleFlight<Pointer | undefined>();

  constructor(peers: ChunkPeers, memory: PointerMemory | undefined) {
    this.#peers = peers;
    this.#memory = memory;
  }

  /** Whether a pointer at this address is remembered. Asks no peer. */
  async isKnown(address: Address): Promise<boolean> {
    const last = this.#lookups.get(address.hex);
    if (last) return last.pointer !== undefined;
    const pointer = await this.#stored(address);
    if (pointer) this.#lookups.set(address.hex, { pointer, until: 0 });
    return pointer !== undefined;
  }

  /**
   * Asks several peers, unless the last answer is recent, and returns the newest state ever seen; see `newestPointer`.
   * If no peer answers, returns the last known state; undefined if no peer has a pointer.
   */
  async newest(address: Address, signal?: AbortSignal): Promise<Pointer | undefined> {
    const last = this.#lookups.get(address.hex);
    if (last && Date.now() < last.until) return last.pointer;
    return this.#asking.run(address.hex, signal, async (shared) => {
      const known = last?.pointer ?? (await this.#stored(address));
      const answers = await this.#ask(address, known, shared);
      const pointer = newestPointer(known, answers);
      if (pointer && pointer !== known) await this.#memory?.put(address, pointer.record);
      const { fresh, missing } = limits.pointerMs;
      // A known record is enough for a while, so that silent or busy peers do not delay every visit.
      const until = Date.now() + (pointer ? fresh : missing);
      this.#lookups.set(address.hex, { pointer, until });
      return pointer;
    });
  }

  async #ask(address: Address, known: Pointer | undefined, signal: AbortSignal): Promise<Pointer[]> {
    const verify = (record: Uint8Array<ArrayBuffer>) =>
      known && equalBytes(record, known.record) ? known : parsePointer(record, address);
    const isKnown = known !== undefined;
    return (await this.#peers.pointers?.(address, { signal, verify, isKnown })) ?? [];
  }

  async #stored(address: Address): Promise<Pointer | undefined> {
    const record = await this.#memory?.get(address);
    try {
      return record && parsePointer(record, address);
    } catch (error) {
      console.warn('antway: a stored pointer is damaged', error);
      return undefined;
    }
  }
}
