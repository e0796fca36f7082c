import { raceAbort } from '../util/watchdog.ts';
import type { Inbox } from './inbox.ts';
import { type NodeAddress, peerIdBytes } from './node-address.ts';
import type { Outbox } from './outbox.ts';
import { acceptBytes, type Handshake, type Session } from './session.ts';

/** A connection on which nothing was sent yet. */
export interface NewLink {
  inbox: Inbox;
  outbox: Outbox;
  /** The first payload of the node. */
  first: Promise<Uint8Array>;
  /** Fires when the connection ends. */
  end: AbortSignal;
}

/**
 * Does the handshake with a node.
 * @returns the session with the node that the address names.
 * @throws AntwayError `PEERS_UNREACHABLE`, `CORRUPT`; the signal's reason when aborted.
 */
export async function authenticate(
  handshake: Handshake,
  address: NodeAddress,
  { inbox, outbox, first, end }: NewLink,
  signal: AbortSignal,
): Promise<Session> {
  const answer = inbox.expect(acceptBytes);
  first.then(answer.received);
  const sent = outbox.send(handshake.hello).then(() => {
    answer.sent();
    return first;
  });
  const accept = await raceAbort(raceAbort(Promise.race([first, sent]), end), signal);
  return handshake.finish(accept, peerIdBytes(address));
}
