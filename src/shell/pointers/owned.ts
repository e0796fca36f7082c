import { AntwayError } from '../../errors.ts';
import { type OwnedPointer, OwnedPointers, type Peers } from '../../owner/owned-pointers.ts';
import { PeerUrl } from '../../peer-url.ts';
import { PeerTransports } from '../../peers/transports/peer-transports.ts';

export const ownedPointers = new OwnedPointers();

/** Whether its key can still change where it leads. */
export const isMovable = ({ states }: OwnedPointer) => !states.isFrozen;

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
      if (pointers) return pointers;
      throw new AntwayError('UNSUPPORTED', `${url} takes no pointers from a page. Choose another peer.`);
    }),
    token: token || undefined,
  };
}
