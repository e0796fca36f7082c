import type { Address } from '../address.ts';
import { equalBytes } from '../address.ts';
import { limits } from '../limits.ts';
import type { ChunkPeers } from '../peers/selection/pool.ts';
import { LruCache } from '../util/lru-cache.ts';
import { SingleFlight } from '../util/single-flight.ts';
import { newestPointer, type Pointer, parsePointer } from './pointer.ts';

/** Stores the newest seen record of each pointer, so that no peer can lead back to an older one. */
export interface PointerMemory {
  /** Other code of this origin may have changed the record since `put`: the caller verifies it again. */
  get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined>;
  put(address: Address, record: Uint8Array<ArrayBuffer>): Promise<void>;
}

interface Looked {
  /** Undefined if no peer has a pointer. */
  pointer: Pointer | undefined;
  /** Until when peers are not asked again, in milliseconds since 1970. */
  until: number;
}

/** Looks up the newest state of pointers. */
export class Pointers {
  readonly #peers: ChunkPeers;
  readonly #memory: PointerMemory | undefined;
  readonly #looked = new LruCache<Looked>(1_000);
  readonly #looking = new SingleFlight<Pointer | undefined>();

  constructor(peers: ChunkPeers, memory: PointerMemory | undefined) {
    this.#peers = peers;
    this.#memory = memory;
  }

  /** Whether a pointer was seen at this address before, as far as it is remembered. Asks no peer. */
  async isKnown(address: Address): Promise<boolean> {
    const looked = this.#looked.get(address.hex);
    if (looked) return looked.pointer !== undefined;
    const pointer = await this.#remembered(address);
    if (pointer) this.#looked.set(address.hex, { pointer, until: 0 });
    return pointer !== undefined;
  }

  /**
   * Asks several peers, unless the last answer is recent, and returns the newest state that was ever seen; see
   * `newestPointer`. If no peer answers, returns the last known state.
   * @returns undefined if no peer has a pointer.
   */
  async newest(address: Address, signal?: AbortSignal): Promise<Pointer | undefined> {
    const looked = this.#looked.get(address.hex);
    if (looked && Date.now() < looked.until) return looked.pointer;
    return this.#looking.run(address.hex, signal, async (shared) => {
      const known = looked?.pointer ?? (await this.#remembered(address));
      const given = await this.#ask(address, known, shared);
      const pointer = newestPointer(known, given);
      if (pointer && pointer !== known) await this.#memory?.put(address, pointer.record);
      const { fresh, missing } = limits.pointerMs;
      // If no peer answered, ask again soon.
      const until = Date.now() + (given.length > 0 ? fresh : missing);
      this.#looked.set(address.hex, { pointer, until });
      return pointer;
    });
  }

  async #ask(address: Address, known: Pointer | undefined, signal: AbortSignal): Promise<Pointer[]> {
    const open = (record: Uint8Array<ArrayBuffer>) =>
      known && equalBytes(record, known.record) ? known : parsePointer(record, address);
    return (await this.#peers.pointers?.(address, { signal, verify: open })) ?? [];
  }

  async #remembered(address: Address): Promise<Pointer | undefined> {
    const record = await this.#memory?.get(address);
    try {
      return record && parsePointer(record, address);
    } catch (error) {
      console.warn('antway: a kept pointer is damaged', error);
      return undefined;
    }
  }
}
