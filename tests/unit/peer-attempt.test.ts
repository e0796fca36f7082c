import { describe, expect, it } from 'vitest';
import { AntwayError, type ErrorCode } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { PeerHealth } from '../../src/peers/selection/health.ts';
import { type AttemptRequest, PeerAttempt } from '../../src/stats/peer-attempt.ts';
import { Stats } from '../../src/stats/stats.ts';

const peer = 'https://peer.example';
const bytes = new Uint8Array(100);
const error = (code: ErrorCode, details = {}) => new AntwayError(code, 'It failed.', details);

/** Attempts at one peer, its health, and what is counted. */
function observed() {
  const [stats, health] = [new Stats(), new PeerHealth()];
  const start = (request: Partial<AttemptRequest> = {}) =>
    new PeerAttempt({ peer, transport: 'http', operation: 'get', ...request }, [stats, health]);
  return { start, health, counted: () => stats.snapshot().peers[0] };
}

describe('an attempt at a peer', () => {
  it('counts a verified chunk, and the times of its first and last byte', async () => {
    const { start, counted } = observed();
    const attempt = start();
    attempt.began();
    expect(await attempt.accept(bytes, ({ length }) => length)).toBe(100);
    attempt.end('success');
    const { chunks, firstByteMs, totalMs, failures } = counted()!.http;
    expect([chunks, firstByteMs.count, totalMs.count, failures]).toEqual([1, 1, 1, {}]);
  });

  it('for several chunks measures the first byte and the whole once', async () => {
    const { start, counted, health } = observed();
    const attempt = start({ operation: 'open', transport: 'webtransport' });
    attempt.began();
    for (let i = 0; i < 3; i++) await attempt.accept(bytes, () => {});
    attempt.end('success');
    const { chunks, bytes: all, firstByteMs, totalMs } = counted()!.webtransport;
    expect([chunks, all, firstByteMs.count, totalMs.count]).toEqual([3, 300, 1, 1]);
    expect(health.leastFirstByteMs).toBeGreaterThanOrEqual(0);
  });

  it('with wrong bytes counts no chunk, and bans the peer', async () => {
    const { start, counted, health } = observed();
    const attempt = start();
    attempt.began();
    const corrupt = error('CORRUPT');
    await expect(attempt.accept(bytes, () => Promise.reject(corrupt))).rejects.toBe(corrupt);
    expect(attempt.stage).toBe('verify');
    attempt.end(corrupt);
    expect(counted()).toMatchObject({ corrupt: 1, bans: 1, http: { chunks: 0, failures: { CORRUPT: 1 } } });
    expect(health.isBanned).toBe(true);
  });

  it('with a wrong pointer bans no peer', () => {
    const { start, counted, health } = observed();
    start({ operation: 'pointer' }).end(error('CORRUPT'));
    expect(counted()).toMatchObject({ corrupt: 1, bans: 0 });
    expect(health.isBanned).toBe(false);
  });

  it('without a pointer, or given up, is not counted', () => {
    const { start, counted, health } = observed();
    start({ operation: 'pointer' }).end(error('NOT_FOUND'));
    start({ operation: 'pointer' }).end(error('DENIED'));
    start().end('cancelled');
    start().end('overtaken');
    expect(counted()).toBeUndefined();
    expect(health.circuit.state).toBe('closed');
  });

  it('makes a peer unreachable only if no other attempt replaces it', () => {
    const { start, counted, health } = observed();
    start().end(error('PEERS_UNREACHABLE'), false);
    expect(health.circuit.state).toBe('closed');
    start().end(error('PEERS_UNREACHABLE'));
    expect(health.circuit.state).toBe('open');
    expect(counted()!.http.failures).toEqual({ PEERS_UNREACHABLE: 2 });
  });

  it('makes a busy peer unreachable only after several failures, and an answer resets them', () => {
    const { start, health } = observed();
    const busy = () => start().end(error('PEERS_UNREACHABLE', { answered: true }));
    for (let i = 1; i < limits.peerCircuit.failures; i++) busy();
    start().end(error('NOT_FOUND'));
    busy();
    expect(health.circuit.state).toBe('closed');
    for (let i = 1; i < limits.peerCircuit.failures; i++) busy();
    expect(health.circuit.state).toBe('open');
  });

  it('that another peer overtook lowers the weight of the peer', async () => {
    const { start, health } = observed();
    const before = health.weight;
    const attempt = start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    attempt.end('overtaken');
    expect(health.weight).toBeLessThan(before);
  });

  it('counts a hedge once, as won or lost, and not if the caller aborted', () => {
    const { start, counted } = observed();
    const hedge = () => start({ isHedge: true });
    hedge().end('success');
    hedge().end('overtaken');
    hedge().end(error('PEERS_UNREACHABLE'), false);
    hedge().end(error('NOT_FOUND'));
    hedge().end('cancelled');
    expect(counted()!.hedges).toEqual({ won: 1, lost: 2 });
  });
});
