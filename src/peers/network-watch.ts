import { limits } from '../limits.ts';
import type { PeerInfo, PeerNetwork } from './transports/protocol.ts';

export interface NetworkSources {
  /** The peer's description of itself. Rejects for AntTP and antd, and if it would need a new session. */
  info(signal: AbortSignal): Promise<PeerInfo>;
  /** As `PeerTransports.signOfLife`. */
  signOfLife(signal: AbortSignal): Promise<PeerInfo | null | undefined>;
}

/** Whether a peer answers, and the network that it looks records up in, as the peer last described it. */
export class NetworkWatch {
  readonly #sources: NetworkSources;
  #asking: Promise<void> = Promise.resolve();
  /** In milliseconds since 1970. */
  #askedAt = 0;
  #checking: Promise<void> = Promise.resolve();
  #checkedAt = 0;
  /** Undefined if the peer has not answered yet. Null if the peer is not a client of a network. */
  known: PeerNetwork | null | undefined;
  /** Whether the peer gave a sign of life when it was last checked. Undefined if that is not known. */
  answers: boolean | undefined;

  constructor(sources: NetworkSources) {
    this.#sources = sources;
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

  /** Waits for a sign of life of the peer, unless the last one is recent. Any kind of peer. Never rejects. */
  check(freshMs: number): Promise<void> {
    if (Date.now() - this.#checkedAt >= freshMs) {
      this.#checkedAt = Date.now();
      this.#checking = this.#check();
    }
    return this.#checking;
  }

  async #ask(): Promise<void> {
    try {
      this.known = (await this.#sources.info(AbortSignal.timeout(limits.networkMs.ask))).network;
    } catch {
      // The last description stays. A failed `info` says nothing about the peer's chunks.
    }
  }

  async #check(): Promise<void> {
    try {
      const info = await this.#sources.signOfLife(AbortSignal.timeout(limits.checkMs.answer));
      this.answers = info === undefined ? undefined : true;
      if (info) this.known = info.network;
    } catch {
      this.answers = false;
    }
  }
}
