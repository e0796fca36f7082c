import { limits } from '../../limits.ts';
import { PeerUrl } from '../../peer-url.ts';
import type { Peer } from '../peer.ts';

/** Delay before a peer that could not be asked is asked for other peers again, in milliseconds. */
const askAgainMs = 60_000;

/** Learns peers from the configured ones. It asks no learnt peer, so that one peer can name only a few. */
export class PeersOfPeers {
  readonly #configured: readonly Peer[];
  readonly #onFound: (peer: PeerUrl, namedBy: string) => void;
  readonly #known: Set<string>;
  /** In milliseconds since 1970. */
  readonly #askAt: Map<Peer, number>;

  /** @param onFound called at most `limits.peersOfPeers` times. */
  constructor(configured: readonly Peer[], onFound: (peer: PeerUrl, namedBy: string) => void) {
    this.#configured = configured;
    this.#onFound = onFound;
    this.#known = new Set(configured.map(({ id }) => id));
    // AntTP and antd name no other peers.
    const asked = configured.filter(({ url }) => url.kind === 'antway');
    this.#askAt = new Map(asked.map((peer) => [peer, 0]));
  }

  /** Asks the peers that have not answered yet, in the background. */
  discover(): void {
    const now = Date.now();
    for (const [peer, askAt] of this.#askAt) if (now >= askAt) void this.#ask(peer);
  }

  async #ask(peer: Peer): Promise<void> {
    this.#askAt.set(peer, Date.now() + askAgainMs);
    try {
      const { peers } = await peer.transports.info();
      this.#askAt.delete(peer);
      for (const url of peers) this.#add(url, peer);
    } catch {
      // The peer is asked again later. A failed `info` does not affect its health.
    }
  }

  #add(url: string, namedBy: Peer): void {
    if (this.#known.size >= this.#configured.length + limits.peersOfPeers) return;
    let found: PeerUrl;
    try {
      found = PeerUrl.parse(url, namedBy.url.origin);
    } catch (error) {
      console.warn(`antway: ${namedBy.id} names a peer that cannot be one`, error);
      return;
    }
    // Security: only a peer on this machine may direct the browser to other ports of this machine.
    if (this.#known.has(found.id) || (found.isLoopback && !namedBy.url.isLoopback)) return;
    this.#known.add(found.id);
    this.#onFound(found, namedBy.id);
  }
}
