import type { Address } from '../address.ts';
import type { PeerConfig } from '../config.ts';
import { AntwayError, type Attempt, asAntwayError } from '../errors.ts';
import type { PeerTally, Stats } from '../stats/stats.ts';
import type { Face } from './face.ts';
import { Peer, type PeerState } from './peer.ts';

export interface FetchOptions<T> {
  signal: AbortSignal;
  /** Turns received bytes into what the caller wants, or throws `CORRUPT`: then the next peer is asked. */
  verify(received: Uint8Array<ArrayBuffer>): T;
}

/** Where chunks come from: asks one peer after another until one gives bytes that verify. */
export interface ChunkPeers {
  fetch<T>(address: Address, options: FetchOptions<T>): Promise<T>;
}

/** The configured peers, tried in their order; those that could not be reached lately come last. */
export class PeerPool implements ChunkPeers {
  readonly #peers: readonly Peer[];
  readonly #stats: Stats;

  constructor(peers: readonly PeerConfig[], stats: Stats) {
    this.#peers = peers.map((peer) => new Peer(peer));
    this.#stats = stats;
  }

  /**
   * @throws AntwayError with every attempt in its details: `CORRUPT` when a peer sent wrong bytes and no other
   *   had the right ones, `NOT_FOUND` when a peer answered that it has none, `OFFLINE` or `PEERS_UNREACHABLE`
   *   when none answered. The signal's reason when aborted.
   */
  async fetch<T>(address: Address, { signal, verify }: FetchOptions<T>): Promise<T> {
    const attempts: Attempt[] = [];
    for (const peer of this.#order()) {
      if (peer.isBanned) {
        attempts.push(leftOut(peer));
        continue;
      }
      const result = await this.#ask(peer, address, signal, verify, attempts);
      if (result) return result.value;
    }
    throw failure(address, attempts);
  }

  /** Each peer's state and tally, for `/-/peers`. */
  describe(): ({ url: string; state: PeerState } & Partial<PeerTally>)[] {
    const tallies = this.#stats.snapshot().peers;
    return this.#peers.map((peer) => ({
      ...tallies.find((tally) => tally.url === peer.url),
      url: peer.url,
      state: peer.state,
    }));
  }

  close(): void {
    for (const peer of this.#peers) peer.close();
  }

  #order(): Peer[] {
    return this.#peers.toSorted((a, b) => Number(a.isUnreachable) - Number(b.isUnreachable));
  }

  /** Tries each face of one peer. @returns undefined when it has nothing for us. */
  async #ask<T>(
    peer: Peer,
    address: Address,
    signal: AbortSignal,
    verify: (received: Uint8Array<ArrayBuffer>) => T,
    attempts: Attempt[],
  ): Promise<{ value: T } | undefined> {
    for (const face of peer.faces()) {
      const startedAt = performance.now();
      let stage: Attempt['stage'] = 'receive';
      try {
        const received = await face.fetch(address, signal);
        stage = 'verify';
        const value = verify(received);
        peer.succeeded(face.transport);
        this.#stats.fromPeer(peer.url, face.transport, received.length);
        return { value };
      } catch (error) {
        signal.throwIfAborted();
        const failure = asAntwayError(error);
        const { code, message } = failure;
        const milliseconds = Math.round(performance.now() - startedAt);
        attempts.push({ peer: peer.url, transport: face.transport, stage, code, message, milliseconds });
        this.#stats.peerFailed(peer.url, face.transport, code);
        if (!judge(peer, face, failure)) return undefined;
      }
    }
    peer.unreachable();
    return undefined;
  }
}

/** What a failure means for the peer. @returns whether its next face is worth a try. */
function judge(peer: Peer, face: Face, { code, details }: AntwayError): boolean {
  if (code === 'CORRUPT') peer.ban();
  if (code === 'CORRUPT' || code === 'NOT_FOUND' || details.answered) return false;
  peer.faceFailed(face);
  return true;
}

function leftOut(peer: Peer): Attempt {
  return {
    peer: peer.url,
    transport: 'http',
    stage: 'connect',
    code: 'CORRUPT',
    message: 'Left out for a while, because it sent a wrong chunk.',
    milliseconds: 0,
  };
}

function failure(address: Address, attempts: readonly Attempt[]): AntwayError {
  const details = { address: address.hex, attempts };
  const peers = [...new Set(attempts.map(({ peer }) => peer))].join(', ');
  if (attempts.length === 0) {
    return new AntwayError(
      'PEERS_UNREACHABLE',
      'No peer is configured that this browser can reach.',
      details,
    );
  }
  const wrong = attempts.filter(({ code }) => code === 'CORRUPT');
  if (wrong.length > 0) {
    const liars = [...new Set(wrong.map(({ peer }) => peer))].join(', ');
    const wasSent = wrong.some(({ stage }) => stage !== 'connect');
    const message = wasSent
      ? `Wrong bytes were sent for this address by ${liars}.`
      : `No other peer has this record, and ${liars} is left out for a while: it sent wrong bytes.`;
    return new AntwayError('CORRUPT', message, details);
  }
  if (attempts.some(({ code }) => code === 'NOT_FOUND')) {
    return new AntwayError('NOT_FOUND', `No peer has this record. Asked: ${peers}.`, details);
  }
  if (typeof navigator === 'object' && navigator.onLine === false) {
    return new AntwayError('OFFLINE', 'The browser is offline, and this was not kept here.', details);
  }
  return new AntwayError('PEERS_UNREACHABLE', `No peer answered in time. Asked: ${peers}.`, details);
}
