import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CircuitBreaker } from '../../src/peers/selection/circuit-breaker.ts';
import { Backoff } from '../../src/util/backoff.ts';

describe('a circuit breaker', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const breaker = () => new CircuitBreaker({ failures: 2, firstMs: 1000, maxMs: 4000 });

  it('opens after failures in a row, not after failures with a success between them', () => {
    const circuit = breaker();
    circuit.failed();
    circuit.succeeded();
    circuit.failed();
    expect(circuit.state).toBe('closed');
    circuit.failed();
    expect(circuit.state).toBe('open');
  });

  it('lets one probe through after a while, and closes when that succeeds', () => {
    const circuit = breaker();
    circuit.failed();
    circuit.failed();
    vi.advanceTimersByTime(1000);
    expect(circuit.state).toBe('half-open');
    circuit.started();
    expect(circuit.state).toBe('open');
    circuit.succeeded();
    expect(circuit.state).toBe('closed');
  });

  it('opens again at once when the probe fails, and for longer', () => {
    const circuit = breaker();
    circuit.failed();
    circuit.failed();
    vi.advanceTimersByTime(1000);
    circuit.failed(circuit.started());
    vi.advanceTimersByTime(999);
    expect(circuit.state).toBe('open');
    vi.advanceTimersByTime(1001);
    expect(circuit.state).toBe('half-open');
  });

  it('lets another probe through when the first was cancelled', () => {
    const circuit = breaker();
    circuit.failed();
    circuit.failed();
    vi.advanceTimersByTime(1000);
    circuit.abandoned(circuit.started());
    expect(circuit.state).toBe('half-open');
  });

  it.each(['failed', 'trip'] as const)('is opened once by requests that fail together (%s)', (outcome) => {
    const circuit = breaker();
    const requests = Array.from({ length: 20 }, () => circuit.started());
    for (const request of requests) circuit[outcome](request);
    vi.advanceTimersByTime(1000);
    expect(circuit.state).toBe('half-open');
  });

  it('learns nothing from requests that began before it opened, and their end does not end the probe', () => {
    const circuit = breaker();
    const [before, cancelled] = [circuit.started(), circuit.started()];
    circuit.trip(circuit.started());
    vi.advanceTimersByTime(1000);
    circuit.failed(before);
    expect(circuit.state).toBe('half-open');
    circuit.started();
    circuit.abandoned(cancelled);
    circuit.failed(before);
    expect(circuit.state).toBe('open');
    vi.advanceTimersByTime(60_000);
    expect(circuit.state).toBe('open');
  });
});

describe('a back-off', () => {
  it('doubles up to its longest, jittered by at most a half, and starts anew after a success', () => {
    const backoff = new Backoff({ firstMs: 100, maxMs: 400 });
    for (const step of [100, 200, 400, 400]) {
      const wait = backoff.next();
      expect(wait).toBeGreaterThanOrEqual(step / 2);
      expect(wait).toBeLessThanOrEqual(step);
    }
    backoff.reset();
    expect(backoff.next()).toBeLessThanOrEqual(100);
  });
});
