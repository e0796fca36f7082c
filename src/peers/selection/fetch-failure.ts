import type { Address } from '../../address.ts';
import { AntwayError, type Attempt, type ErrorDetails } from '../../errors.ts';
import type { AttemptObserver, AttemptOutcome, PeerAttempt } from '../../stats/peer-attempt.ts';
import { busyHint } from '../transports/protocol.ts';
import { isAbsence } from '../transports/transport.ts';

/** The name of the network's nodes among the peers. */
const nodesName = 'nodes';

/** Collects the failed attempts to fetch one record, and decides which error they amount to. */
export class FetchFailure implements AttemptObserver {
  readonly #attempts: Attempt[] = [];
  #nodesError: AntwayError | undefined;

  attemptEnded({ request, stage, elapsedMs }: PeerAttempt, outcome: AttemptOutcome): void {
    if (!(outcome instanceof AntwayError)) return;
    const { code, message, details } = outcome;
    const isBusy = busyHint(outcome) !== undefined;
    this.#attempts.push({
      peer: request.peer,
      transport: request.transport,
      stage,
      code,
      message: isBusy ? 'The peer was busy until the time for a lookup was over.' : message,
      milliseconds: Math.round(elapsedMs),
      ...(details.answered ? { answered: true } : {}),
      ...(isBusy ? { busy: true } : {}),
    });
  }

  /** The network's nodes did not give the record. @param startedMs of `performance.now()`. */
  nodesFailed(error: AntwayError, startedMs: number): void {
    this.#nodesError = error;
    // Without a page that connects to nodes, no node was asked.
    const { problem } = error.details;
    if (problem === 'no-page' || problem === 'no-leader') return;
    const { code, message } = error;
    const milliseconds = Math.round(performance.now() - startedMs);
    this.#attempts.push({
      peer: nodesName,
      transport: 'webrtc',
      stage: 'request',
      code,
      message,
      milliseconds,
    });
  }

  get isAbsent(): boolean {
    return this.#attempts.some(({ code }) => isAbsence(code));
  }

  /** @param banned peers that were perhaps not asked. */
  error(address: Address, banned: readonly { id: string }[]): AntwayError {
    const asked = new Set(this.#attempts.map(({ peer }) => peer));
    const leftOut = banned.filter(({ id }) => !asked.has(id)).map(({ id }) => leftOutAttempt(id));
    const attempts = [...leftOut, ...this.#attempts];
    const problem = this.#nodesError?.details.problem;
    const details = { address: address.hex, attempts, ...(problem === undefined ? {} : { problem }) };
    const peers = namesOf(attempts);
    if (this.#nodesError && attempts.every(({ peer }) => peer === nodesName)) {
      const { code, message } = this.#nodesError;
      return isOffline() ? offline(details) : new AntwayError(code, message, details);
    }
    if (attempts.length === 0) {
      return new AntwayError(
        'PEERS_UNREACHABLE',
        'No peer is configured that this browser can reach.',
        details,
      );
    }
    const wrong = attempts.filter(({ code }) => code === 'CORRUPT');
    if (wrong.length > 0) {
      const liars = namesOf(wrong);
      const wasSent = wrong.some(({ stage }) => stage !== 'connect');
      const message = wasSent
        ? `Wrong bytes were sent for this address by ${liars}.`
        : `No other peer has this record. Because of wrong bytes, these are excluded for a while: ${liars}.`;
      return new AntwayError('CORRUPT', message, details);
    }
    const without = new Set(attempts.filter(({ code }) => isAbsence(code)).map(({ peer }) => peer));
    const silent = attempts.filter(({ peer }) => !without.has(peer));
    if (silent.length === 0) return absence(attempts, details);
    // Without a network, a peer on this computer can still answer "busy". Then the browser is not offline.
    const isCutOff = attempts.every(({ answered }) => !answered);
    if (isCutOff && isOffline()) return offline(details);
    const isBusy = silent.every(({ busy }) => busy);
    const missing = `${namesOf(silent)} ${isBusy ? 'did not find it in time' : 'did not answer'}`;
    const message =
      without.size > 0
        ? `No peer that answered has this record, and ${missing}. Asked: ${peers}.`
        : `No peer ${isBusy ? 'found this record' : 'answered'} in time. Asked: ${peers}.`;
    return new AntwayError('PEERS_UNREACHABLE', message, details);
  }
}

/**
 * The error if every peer answered that it does not have the record, or does not serve it. A peer that blocks an address
 * may have its record, so the record is not known to be absent.
 */
function absence(attempts: readonly Attempt[], details: ErrorDetails): AntwayError {
  const refusing = attempts.filter(({ code }) => code === 'DENIED');
  const peers = namesOf(attempts);
  if (refusing.length === attempts.length) {
    const message = `The operators of all peers have blocked this address. Asked: ${peers}.`;
    return new AntwayError('DENIED', message, details);
  }
  if (refusing.length > 0) {
    const message = `${namesOf(refusing)} has blocked this address, and no other peer has this record. Asked: ${peers}.`;
    return new AntwayError('DENIED', message, details);
  }
  return new AntwayError('NOT_FOUND', `No peer has this record. Asked: ${peers}.`, details);
}

function isOffline(): boolean {
  return typeof navigator === 'object' && navigator.onLine === false;
}

function offline(details: ErrorDetails): AntwayError {
  return new AntwayError(
    'OFFLINE',
    'The browser is offline, and this content is not stored on this device.',
    details,
  );
}

function leftOutAttempt(peer: string): Attempt {
  return {
    peer,
    transport: 'http',
    stage: 'connect',
    code: 'CORRUPT',
    message: 'Excluded for a while, because it sent a wrong chunk.',
    milliseconds: 0,
  };
}

function namesOf(attempts: readonly Attempt[]): string {
  return [...new Set(attempts.map(({ peer }) => peer))].join(', ');
}
