// @module-tag isolated
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { AntwayError, type ErrorCode } from '../../src/errors.ts';
import { FetchFailure } from '../../src/peers/selection/fetch-failure.ts';
import { type AttemptOutcome, PeerAttempt } from '../../src/stats/peer-attempt.ts';

const address = Address.fromHex('ab'.repeat(32));
const error = (code: ErrorCode, details = {}) => new AntwayError(code, `It is ${code}.`, details);
const busy = error('PEERS_UNREACHABLE', { answered: true, busy: { afterMs: 1 } });

type Ended = [peer: string, outcome: AttemptOutcome, stage?: 'verify'];

function failureOf(...ended: Ended[]): FetchFailure {
  const failure = new FetchFailure();
  for (const [peer, outcome, stage] of ended) {
    const attempt = new PeerAttempt({ peer, transport: 'webtransport', operation: 'get' }, [failure]);
    if (stage) attempt.stage = stage;
    attempt.end(outcome);
  }
  return failure;
}

/** The code and message of the error that the attempts amount to. */
function amountTo(ended: Ended[], banned: string[] = []): string {
  const { code, message } = failureOf(...ended).error(
    address,
    banned.map((id) => ({ id })),
  );
  return `${code}: ${message}`;
}

const online = (isOnline: boolean | undefined) => vi.stubGlobal('navigator', { onLine: isOnline });

beforeEach(() => void online(true));
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('the attempts of an error', () => {
  it('tell what happened at each peer', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const failure = new FetchFailure();
    const attempt = new PeerAttempt({ peer: 'a', transport: 'http', operation: 'get' }, [failure]);
    vi.advanceTimersByTime(12.6);
    attempt.end(error('NOT_FOUND'));
    const { details } = failure.error(address, []);
    expect(details).toEqual({
      address: address.hex,
      attempts: [
        {
          peer: 'a',
          transport: 'http',
          stage: 'receive',
          code: 'NOT_FOUND',
          message: 'It is NOT_FOUND.',
          milliseconds: 13,
        },
      ],
    });
  });

  it('say whether the peer answered, and whether it was busy', () => {
    const { details } = failureOf(
      ['a', error('PEERS_UNREACHABLE', { answered: true })],
      ['b', busy],
      ['c', error('PEERS_UNREACHABLE')],
    ).error(address, []);
    const [a, b, c] = details.attempts!;
    expect(a).toMatchObject({ answered: true, message: 'It is PEERS_UNREACHABLE.' });
    expect(a).not.toHaveProperty('busy');
    expect(b).toMatchObject({ answered: true, busy: true, message: expect.stringContaining('was busy') });
    expect(c).not.toHaveProperty('answered');
  });

  it('are those that failed only', () => {
    const { details } = failureOf(
      ['a', 'busy'],
      ['b', 'overtaken'],
      ['c', 'cancelled'],
      ['d', 'success'],
    ).error(address, []);
    expect(details.attempts).toEqual([]);
  });

  it('begin with the banned peers that were not asked', () => {
    const { details } = failureOf(['a', error('NOT_FOUND')], ['b', error('NOT_FOUND')]).error(address, [
      { id: 'b' },
      { id: 'c' },
    ]);
    expect(details.attempts!.map(({ peer, stage, code }) => [peer, stage, code])).toEqual([
      ['c', 'connect', 'CORRUPT'],
      ['a', 'receive', 'NOT_FOUND'],
      ['b', 'receive', 'NOT_FOUND'],
    ]);
    expect(details.attempts![0]).toMatchObject({ transport: 'http', milliseconds: 0 });
  });
});

describe('the error of all attempts', () => {
  const absent = error('NOT_FOUND');
  const denied = error('DENIED');
  const silent = error('PEERS_UNREACHABLE');
  const wrong = error('CORRUPT');

  it.each<[string, Ended[], string[], RegExp]>([
    ['no peer was asked', [], [], /^PEERS_UNREACHABLE: No peer is configured/],
    [
      'all peers lack the record',
      [
        ['a', absent],
        ['b', absent],
      ],
      [],
      /^NOT_FOUND: .*Asked: a, b\.$/,
    ],
    [
      'a peer was asked twice',
      [
        ['a', silent],
        ['a', absent],
      ],
      [],
      /^NOT_FOUND: .*Asked: a\.$/,
    ],
    [
      'all peers block the address',
      [
        ['a', denied],
        ['b', denied],
      ],
      [],
      /^DENIED: .*all peers.*Asked: a, b\.$/,
    ],
    [
      'one of them blocks it',
      [
        ['a', absent],
        ['b', denied],
      ],
      [],
      /^DENIED: b has .*Asked: a, b\.$/,
    ],
    [
      'no peer answered',
      [
        ['a', silent],
        ['b', silent],
      ],
      [],
      /^PEERS_UNREACHABLE: No peer answered.*Asked: a, b\.$/,
    ],
    [
      'one did not answer',
      [
        ['a', absent],
        ['b', silent],
      ],
      [],
      /^PEERS_UNREACHABLE: No peer that answered.*b did not answer\. Asked: a, b\.$/,
    ],
    [
      'all peers were busy',
      [
        ['a', busy],
        ['b', busy],
      ],
      [],
      /^PEERS_UNREACHABLE: No peer found this record.*a, b\.$/,
    ],
    [
      'one was busy',
      [
        ['a', denied],
        ['b', busy],
      ],
      [],
      /^PEERS_UNREACHABLE: .*b did not find it in time\. Asked: a, b\.$/,
    ],
    [
      'one was busy and one silent',
      [
        ['a', busy],
        ['b', silent],
      ],
      [],
      /^PEERS_UNREACHABLE: No peer answered/,
    ],
    [
      'one sent wrong bytes',
      [
        ['a', absent],
        ['b', wrong, 'verify'],
        ['c', silent],
      ],
      [],
      /^CORRUPT: Wrong bytes.*by b\.$/,
    ],
    ['one is banned', [['a', absent]], ['b'], /^CORRUPT: No other peer.*: b\.$/],
    ['one is banned and one lies', [['a', wrong, 'verify']], ['b'], /^CORRUPT: Wrong bytes.*by b, a\.$/],
  ])('when %s', (_, ended, banned, expected) => {
    expect(amountTo(ended, banned)).toMatch(expected);
  });

  it('is OFFLINE only without a network and without any answer', () => {
    online(false);
    expect(amountTo([['a', silent]])).toMatch(/^OFFLINE: /);
    expect(
      amountTo([
        ['a', silent],
        ['b', absent],
      ]),
    ).toMatch(/^OFFLINE: /);
    expect(
      amountTo([
        ['a', silent],
        ['b', busy],
      ]),
    ).toMatch(/^PEERS_UNREACHABLE: /);
    expect(amountTo([['a', absent]])).toMatch(/^NOT_FOUND: /);
    online(undefined);
    expect(amountTo([['a', silent]])).toMatch(/^PEERS_UNREACHABLE: /);
    vi.stubGlobal('navigator', undefined);
    expect(amountTo([['a', silent]])).toMatch(/^PEERS_UNREACHABLE: /);
  });

  it('knows whether a peer that answered lacks the record', () => {
    expect(failureOf(['a', silent], ['b', wrong]).isAbsent).toBe(false);
    expect(failureOf(['a', silent], ['b', absent]).isAbsent).toBe(true);
    expect(failureOf(['b', denied]).isAbsent).toBe(true);
  });
});

describe('the error when the nodes of the network failed', () => {
  const nodes = (problem?: string) => error('NOT_FOUND', problem === undefined ? {} : { problem });

  it('is theirs if no peer was asked', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const failure = failureOf();
    const startedMs = performance.now();
    vi.advanceTimersByTime(20);
    failure.nodesFailed(nodes('slow'), startedMs);
    const result = failure.error(address, []);
    expect(result).toMatchObject({ code: 'NOT_FOUND', message: 'It is NOT_FOUND.' });
    expect(result.details).toEqual({
      address: address.hex,
      problem: 'slow',
      attempts: [
        {
          peer: 'nodes',
          transport: 'webrtc',
          stage: 'request',
          code: 'NOT_FOUND',
          message: 'It is NOT_FOUND.',
          milliseconds: 20,
        },
      ],
    });
    online(false);
    expect(failure.error(address, []).code).toBe('OFFLINE');
  });

  it.each(['no-page', 'no-leader'])('without a node that was asked has no attempt: %s', (problem) => {
    const failure = failureOf();
    failure.nodesFailed(nodes(problem), 0);
    const { code, details } = failure.error(address, []);
    expect([code, details.problem, details.attempts]).toEqual(['NOT_FOUND', problem, []]);
  });

  it('counts them as one more peer', () => {
    const failure = failureOf(['a', error('PEERS_UNREACHABLE')]);
    failure.nodesFailed(nodes(), performance.now());
    const { code, message, details } = failure.error(address, []);
    expect(code).toBe('PEERS_UNREACHABLE');
    expect(message).toMatch(/a did not answer\. Asked: a, nodes\.$/);
    expect(details).not.toHaveProperty('problem');
  });
});
