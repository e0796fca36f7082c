import { parsePointer } from '../content/pointer.ts';
import { asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { PeerUrl } from '../peer-url.ts';
import { HttpTransport } from '../peers/transports/http.ts';
import { isSameState, type PointerReader } from './paid-pointers.ts';
import { isAtMajority } from './pointer-majority.ts';
import type { Relay } from './relay.ts';

/** The peers that relays are. Such a peer may store a newer state of a pointer that the network does not have. */
export function peersOfRelays(relays: readonly Pick<Relay, 'url'>[]): HttpTransport[] {
  return relays.map(({ url }) => new HttpTransport(PeerUrl.parse(url)));
}

/**
 * Reads pointers from the network through a relay. A pointer that only the relay itself stores does not count. Chunks come
 * from the peer that the relay is.
 */
export function relayPointerReader(relay: Pick<Relay, 'url' | 'pointer'>): PointerReader {
  const peer = new HttpTransport(PeerUrl.parse(relay.url));
  return {
    url: relay.url,
    fetch: (address, signal) => peer.fetch(address, signal),
    pointer: async (address, maxBytes, signal) => (await relay.pointer(address, maxBytes, signal)).record,
    async hasState(address, record, signal) {
      try {
        const newest = await relay.pointer(address, limits.pointerBytes, signal);
        if (!isSameState(parsePointer(newest.record, address).record, record)) return false;
        const { holders, others } = newest;
        // A relay of an older version tells only states that two nodes have.
        return holders === undefined || isAtMajority(holders, others!);
      } catch (error) {
        signal.throwIfAborted();
        const { code } = asAntwayError(error);
        if (code === 'NOT_FOUND' || code === 'CORRUPT') return false;
        throw error;
      }
    },
  };
}
