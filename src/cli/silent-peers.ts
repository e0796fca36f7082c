import { AntwayError, asAntwayError } from '../errors.ts';
import type { PeerUrl } from '../peer-url.ts';
import { HttpTransport } from '../peers/transports/http.ts';
import { printable } from './format.ts';
import { suggestion } from './suggestion.ts';

/** A peer that has not answered after this time is reported, in milliseconds. */
export const silentMs = 1_500;

export interface SilentPeer {
  peer: PeerUrl;
  /** Whether the connection failed. Otherwise the peer has not answered yet. */
  isUnreachable: boolean;
}

/** Asks each peer for a sign of life. Any answer is one, also that of a server that does not describe itself. */
async function silentPeers(peers: readonly PeerUrl[], signal: AbortSignal): Promise<SilentPeer[]> {
  const found = await Promise.all(
    peers.map(async (peer) => {
      const late = AbortSignal.timeout(silentMs);
      try {
        await new HttpTransport(peer).info(AbortSignal.any([signal, late]));
      } catch (error) {
        signal.throwIfAborted();
        if (late.aborted) return { peer, isUnreachable: false };
        if (asAntwayError(error).code === 'PEERS_UNREACHABLE') return { peer, isUnreachable: true };
      }
      return undefined;
    }),
  );
  return found.filter((each) => each !== undefined);
}

/**
 * Ends a command before its work if it cannot succeed, because no peer can be reached. Reports single silent peers.
 * @throws AntwayError `PEERS_UNREACHABLE`.
 */
export async function requirePeers(
  peers: readonly PeerUrl[],
  signal: AbortSignal,
  isSilent: boolean,
): Promise<void> {
  const silent = await silentPeers(peers, signal);
  if (silent.length === peers.length && silent.every(({ isUnreachable }) => isUnreachable)) {
    throw new AntwayError('PEERS_UNREACHABLE', `No peer can be reached at ${namesOf(silent)}.`);
  }
  report(silent, isSilent);
}

/** As `requirePeers`, beside work whose own error names the peers that cannot be reached. Reports peers that are late. */
export async function reportLatePeers(
  peers: readonly PeerUrl[],
  signal: AbortSignal,
  isSilent: boolean,
): Promise<void> {
  try {
    const silent = await silentPeers(peers, signal);
    report(
      silent.filter(({ isUnreachable }) => !isUnreachable),
      isSilent,
    );
  } catch {
    // The work has ended.
  }
}

function report(silent: readonly SilentPeer[], isSilent: boolean): void {
  if (isSilent || silent.length === 0) return;
  reportLate(namesOf(silent));
}

/** Tells the user that a host has not answered yet. */
export function reportLate(names: string): void {
  process.stderr.write(`No answer yet from ${printable(names)}. ${suggestion}\n`);
}

function namesOf(silent: readonly SilentPeer[]): string {
  return silent.map(({ peer }) => peer.id).join(', ');
}
