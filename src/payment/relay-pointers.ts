import { PeerUrl } from '../peer-url.ts';
import { HttpTransport } from '../peers/transports/http.ts';
import type { PointerReader } from './paid-pointers.ts';
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
    pointer: (address, maxBytes, signal) => relay.pointer(address, maxBytes, signal),
  };
}
