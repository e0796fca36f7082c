import { limits } from '../limits.ts';
import type { PeerInfo, PeerNetwork } from './transports/protocol.ts';

/** The network that a peer looks records up in, as the peer last described it. */
export class NetworkWatch {
  readonly #info: (signal: AbortSignal) => Promise<PeerInfo>;
  #asking: Promise<void> = Promise.resolve();
  /** In milliseconds since 1970. */
  #askedAt = 0;
  /** Undefined if the peer has not answered yet. Null if the peer is not a client of a network. */
  known: PeerNetwork | null | undefined;

  constructor(info: (signal: AbortSignal) => Promise<PeerInfo>) {
    this.#info = info;
  }

  /**
   * Asks the peer unless the last request is recent. Waits for the answer only for a short time. Never rejects.
   * @param freshMs how long an answer stays valid, in milliseconds.
   */
  learn(freshMs: number = limits.networkMs.fresh): Promise<void> {
    if (Date.now() - this.#askedAt >= freshMs) {
      this.#askedAt = Date.now();
      this.#asking = this.#ask();
    }
    return this.#asking;
  }

  async #ask(): Promise<void> {
    try {
      this.known = (await this.#info(AbortSignal.timeout(limits.networkMs.ask))).network;
    } catch {
      // The last description stays. A failed `info` says nothing about the peer's chunks.
    }
  }
}
