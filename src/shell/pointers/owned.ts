import { AntwayError } from '../../errors.ts';
import type { StateSource } from '../../owner/move-pointer.ts';
import { type OwnedPointer, OwnedPointers, type Peers } from '../../owner/owned-pointers.ts';
import { PeerUrl } from '../../peer-url.ts';
import { HttpWriter } from '../../peers/transports/http-writer.ts';
import { PeerTransports } from '../../peers/transports/peer-transports.ts';

export const ownedPointers = new OwnedPointers();

/** Whether its key can still change where it leads. */
export const isMovable = ({ states }: OwnedPointer) => !states.isFrozen;

/** The peers that tell states of pointers. @param asked those that are asked anyway. */
export function statesAt(known: readonly string[], asked: readonly StateSource[] = []): StateSource[] {
  const urls = new Set(asked.map(({ url }) => url));
  return known.flatMap((text) => {
    const { pointers } = new PeerTransports(PeerUrl.parse(text), 'auto');
    return pointers && !urls.has(pointers.url) ? [pointers] : [];
  });
}

/** @throws AntwayError `UNSUPPORTED` for a peer that a page cannot send pointers to. */
export function peersAt({
  peers,
  token,
}: {
  peers: readonly string[];
  token: string;
}): Omit<Peers, 'signal'> {
  return {
    peers: peers.map((url) => {
      const { pointers } = new PeerTransports(PeerUrl.parse(url), 'auto');
      if (pointers) return new HttpWriter(PeerUrl.parse(url));
      throw new AntwayError('UNSUPPORTED', `${url} takes no pointers from a page. Choose another peer.`);
    }),
    token: token || undefined,
  };
}
