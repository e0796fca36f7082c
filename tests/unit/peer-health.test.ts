import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AntwayError, type ErrorCode } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { PeerHealth } from '../../src/peers/selection/health.ts';
import { type AttemptOutcome, type AttemptRequest, PeerAttempt } from '../../src/stats/peer-attempt.ts';

const mebibyte = 2 ** 20;
const failure = (code: ErrorCode, details = {}) => new AntwayError(code, 'It failed.', details);
/** The weight of a peer with these measurements. */
const weightOf = (costMs: number, success = 1) => success ** 2 / (20 + costMs);

function measured() {
  const health = new PeerHealth();
  const start = (request: Partial<AttemptRequest> = {}) =>
    new PeerAttempt({ peer: 'p', transport: 'http', operation: 'get', ...request }, [health]);
  return {
    health,
    start,
    /** The first chunk of an answer. */
    receive(firstByteMs: number, bytes = 100, milliseconds = 0) {
      const attempt = start();
      attempt.firstByteMs = firstByteMs;
      attempt.chunks = 1;
      health.chunkReceived(attempt, bytes, milliseconds);
    },
    end(outcome: AttemptOutcome, request: Partial<AttemptRequest> = {}, isFinal = true) {
      health.attemptEnded(start(request), outcome, isFinal);
    },
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the weight of a peer', () => {
  it('is high at first, and falls with the delay of its answers', () => {
    const { health, receive } = measured();
    expect(health.weight).toBe(weightOf(0));
    expect(health.leastFirstByteMs).toBeUndefined();
    receive(80);
    expect(health.weight).toBe(weightOf(80));
    // A fifth of the difference.
    receive(180);
    expect(health.weight).toBe(weightOf(100));
    receive(50);
    expect(health.weight).toBe(weightOf(90));
    expect(health.leastFirstByteMs).toBe(50);
    receive(60);
    expect(health.leastFirstByteMs).toBe(50);
  });

  it('falls with the time for a mebibyte, measured with more than a few bytes', () => {
    const { health, receive } = measured();
    receive(0, mebibyte / 20, 1_000);
    expect(health.weight).toBe(weightOf(0));
    expect(health.largestChunkMs).toBeUndefined();
    receive(0, mebibyte / 2, 100);
    expect(health.weight).toBe(weightOf(200));
    receive(0, 2 * mebibyte, 600);
    expect(health.weight).toBe(weightOf(220));
    expect(health.largestChunkMs).toBe(880);
    receive(100, 100);
    expect(health.largestChunkMs).toBe(900);
  });

  it('counts the delay of the first chunk of an answer only', () => {
    const { health, start } = measured();
    const attempt = start();
    health.chunkReceived(attempt, 100, 0);
    attempt.chunks = 1;
    health.chunkReceived(attempt, 100, 0);
    attempt.chunks = 2;
    attempt.firstByteMs = 500;
    health.chunkReceived(attempt, mebibyte, 10);
    expect(health.leastFirstByteMs).toBeUndefined();
    expect(health.weight).toBe(weightOf(10));
    expect(health.largestChunkMs).toBe(40);
  });

  it('falls with each failure, and recovers with answers', () => {
    const { health, end, receive } = measured();
    end(failure('PEERS_UNREACHABLE'));
    expect(health.weight).toBeCloseTo(weightOf(0, 0.8));
    end(failure('PEERS_UNREACHABLE', { answered: true }));
    expect(health.weight).toBeCloseTo(weightOf(0, 0.64));
    end(failure('NOT_FOUND'));
    expect(health.weight).toBeCloseTo(weightOf(0, 0.712));
    receive(0);
    expect(health.weight).toBeCloseTo(weightOf(0, 0.7696));
    for (let i = 0; i < 100; i++) end(failure('PEERS_UNREACHABLE'));
    expect(health.weight).toBeCloseTo(weightOf(0, 0.01), 10);
  });

  it('falls with the time that it was waited for when another peer was faster', () => {
    const silent = measured();
    const request = silent.start();
    vi.advanceTimersByTime(300);
    request.end('overtaken');
    expect(silent.health.weight).toBe(weightOf(300));
    const slow = measured();
    const answer = slow.start();
    vi.advanceTimersByTime(100);
    answer.began();
    vi.advanceTimersByTime(400);
    answer.end('overtaken');
    expect(slow.health.weight).toBe(weightOf(400));
    expect(slow.health.largestChunkMs).toBe(1_600);
  });

  it('falls when another peer finds the record first', () => {
    const { health } = measured();
    health.lostLookup(1_000);
    expect(health.weight).toBeCloseTo(weightOf(1_000, 0.8), 10);
    expect(health.circuit.state).toBe('closed');
  });
});

describe('the circuit of a peer', () => {
  it('opens at once if the peer cannot be reached and no other attempt replaces the last one', () => {
    const { health, end } = measured();
    end(failure('PEERS_UNREACHABLE'), {}, false);
    expect(health.circuit.state).toBe('closed');
    end(failure('PEERS_UNREACHABLE'));
    expect(health.circuit.state).toBe('open');
  });

  it.each<[string, AttemptOutcome]>([
    ['that it is busy', 'busy'],
    ['that it has no such record', failure('NOT_FOUND')],
    ['that it blocks the address', failure('DENIED')],
  ])('closes when the peer says %s', (_, outcome) => {
    const { health, end } = measured();
    health.unreachable();
    end(outcome);
    expect(health.circuit.state).toBe('closed');
  });

  it('closes with an answer', () => {
    const { health, receive } = measured();
    health.unreachable();
    receive(10);
    expect(health.circuit.state).toBe('closed');
  });

  it.each<[string, AttemptOutcome]>([
    ['was cancelled', 'cancelled'],
    ['was overtaken', 'overtaken'],
    ['sent wrong bytes', failure('CORRUPT')],
  ])('lets another probe through after one that %s', (_, outcome) => {
    const { health, end } = measured();
    health.unreachable();
    vi.advanceTimersByTime(2 * limits.peerCircuit.firstMs);
    const permit = health.circuit.started();
    expect(health.circuit.state).toBe('open');
    end(outcome, { permit });
    expect(health.circuit.state).toBe('half-open');
  });

  it.each<[string, AntwayError]>([
    ['answers with an error', failure('PEERS_UNREACHABLE', { answered: true })],
    ['cannot be reached', failure('PEERS_UNREACHABLE')],
  ])('stays open after a probe that %s', (_, outcome) => {
    const { health, end } = measured();
    health.unreachable();
    vi.advanceTimersByTime(2 * limits.peerCircuit.firstMs);
    end(outcome, { permit: health.circuit.started() });
    expect(health.circuit.state).toBe('open');
  });

  it('does not depend on requests for pointers, and on success', () => {
    const { health, end } = measured();
    end(failure('PEERS_UNREACHABLE'), { operation: 'pointer' });
    end(failure('CORRUPT'), { operation: 'pointer' });
    expect([health.circuit.state, health.isBanned, health.weight]).toEqual(['closed', false, weightOf(0)]);
    health.unreachable();
    end('success');
    expect(health.circuit.state).toBe('open');
  });
});

describe('the ban of a peer', () => {
  it('ends after a minute, and takes twice as long each time, up to 64 minutes', () => {
    const { health, end } = measured();
    expect(health.isBanned).toBe(false);
    for (const times of [1, 2, 4, 8, 16, 32, 64, 64]) {
      end(failure('CORRUPT'));
      vi.advanceTimersByTime(times * limits.wrongChunkBanMs - 1);
      expect(health.isBanned).toBe(true);
      vi.advanceTimersByTime(1);
      expect(health.isBanned).toBe(false);
    }
  });
});

describe('the delay before the next peer is asked', () => {
  it('is fixed until ten answers were measured', () => {
    const { health, receive, start } = measured();
    for (let i = 0; i < 9; i++) {
      receive(100);
      const attempt = start();
      attempt.totalMs = 1_000;
      attempt.end('success');
    }
    expect(health.hedgeDelayMs).toEqual(limits.defaultHedgeDelayMs);
    receive(100);
    expect(health.hedgeDelayMs.firstByte).toBeGreaterThan(90);
    expect(health.hedgeDelayMs.firstByte).toBeLessThan(130);
    expect(health.hedgeDelayMs.rest).toBe(limits.defaultHedgeDelayMs.rest);
    const attempt = start();
    attempt.totalMs = 1_000;
    attempt.end('success');
    expect(health.hedgeDelayMs.rest).toBeGreaterThan(1_800);
    expect(health.hedgeDelayMs.rest).toBeLessThan(3_000);
  });

  it('is never below its least values', () => {
    const { health, receive, start } = measured();
    for (let i = 0; i < 10; i++) {
      receive(1);
      start().end('success');
    }
    expect(health.hedgeDelayMs).toEqual(limits.minHedgeDelayMs);
  });

  it('is measured with answers of single chunks that succeed', () => {
    const { health, start } = measured();
    for (let i = 0; i < 20; i++) {
      start({ operation: 'open' }).end('success');
      start().end('cancelled');
      start().end('busy');
    }
    expect(health.hedgeDelayMs).toEqual(limits.defaultHedgeDelayMs);
  });
});

describe('the longest pause of a prefetch', () => {
  it('is never shorter than that of a peer that was not measured', () => {
    const { firstByte, rest } = limits.defaultHedgeDelayMs;
    const { health, receive, start } = measured();
    expect(health.prefetchStallMs).toBe(firstByte + rest);
    for (let i = 0; i < 10; i++) {
      receive(1);
      start().end('success');
    }
    expect(health.prefetchStallMs).toBe(firstByte + rest);
    for (let i = 0; i < 100; i++) receive(9_000);
    expect(health.prefetchStallMs).toBeGreaterThan(8_000);
  });
});
