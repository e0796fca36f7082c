import type { Address } from '../../address.ts';
import { AntwayError, type Attempt } from '../../errors.ts';
import type { AttemptObserver, AttemptOutcome, PeerAttempt } from '../../stats/peer-attempt.ts';

/** Collects the failed attempts to fetch one record, and decides which error they amount to. */
export class FetchFailure implements AttemptObserver {
  readonly #attempts: Attempt[] = [];

  attemptEnded({ request, stage, elapsedMs }: PeerAttempt, outcome: AttemptOutcome): void {
    if (!(outcome instanceof AntwayError)) return;
    const { code, message, details } = outcome;
    this.#attempts.push({
      peer: request.peer,
      transport: request.transport,
      stage,
      code,
      message,
      milliseconds: Math.round(elapsedMs),
      ...(details.answered ? { answered: true } : {}),
      ...(details.denied ? { denied: true } : {}),
    });
  }

  get isAbsent(): boolean {
    return this.#attempts.some(({ code }) => code === 'NOT_FOUND');
  }

  /** @param banned peers that were perhaps not asked. */
  error(address: Address, banned: readonly { id: string }[]): AntwayError {
    const asked = new Set(this.#attempts.map(({ peer }) => peer));
    const leftOut = banned.filter(({ id }) => !asked.has(id)).map(({ id }) => leftOutAttempt(id));
    const attempts = [...leftOut, ...this.#attempts];
    const details = { address: address.hex, attempts };
    const peers = namesOf(attempts);
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
        : `No other peer has this record, and ${liars} is left out for a while: it sent wrong bytes.`;
      return new AntwayError('CORRUPT', message, details);
    }
    const without = new Set(attempts.filter(({ code }) => code === 'NOT_FOUND').map(({ peer }) => peer));
    const silent = attempts.filter(({ peer }) => !without.has(peer));
    if (silent.length === 0) {
      const denying = attempts.filter(({ denied }) => denied);
      const note = denying.length > 0 ? ` Its operator denies this address: ${namesOf(denying)}.` : '';
      return new AntwayError('NOT_FOUND', `No peer has this record. Asked: ${peers}.${note}`, details);
    }
    // Without a network, a peer on this computer can still answer "busy". Then the browser is not offline.
    const isCutOff = attempts.every(({ answered }) => !answered);
    if (isCutOff && typeof navigator === 'object' && navigator.onLine === false) {
      return new AntwayError(
        'OFFLINE',
        'The browser is offline, and this content is not stored on this device.',
        details,
      );
    }
    const message =
      without.size > 0
        ? `No peer that answered has this record, and ${namesOf(silent)} did not answer. Asked: ${peers}.`
        : `No peer answered in time. Asked: ${peers}.`;
    return new AntwayError('PEERS_UNREACHABLE', message, details);
  }
}

function leftOutAttempt(peer: string): Attempt {
  return {
    peer,
    transport: 'http',
    stage: 'connect',
    code: 'CORRUPT',
    message: 'Left out for a while, because it sent a wrong chunk.',
    milliseconds: 0,
  };
}

function namesOf(attempts: readonly Attempt[]): string {
  return [...new Set(attempts.map(({ peer }) => peer))].join(', ');
}
