import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import {
  busy,
  busyHint,
  checkAnswer,
  encodeAddressRequest,
  operations,
  parseInfo,
  statuses,
} from '../../src/peers/transports/protocol.ts';

const hash = 'ab'.repeat(32);
const webTransport = { port: 4433, path: '/v1', certificateHashes: [hash] };

describe('a GET or HAS request', () => {
  it('is the operation, the count, and the addresses one after the other', () => {
    const addresses = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), {
      minLength: 1,
      maxLength: limits.addressesPerRequest,
    });
    fc.assert(
      fc.property(fc.constantFrom(operations.get, operations.has), addresses, (operation, bytes) => {
        const frame = encodeAddressRequest(
          operation,
          bytes.map((address) => Address.fromBytes(address)),
        );
        expect([...frame]).toEqual([operation, bytes.length, ...bytes.flatMap((address) => [...address])]);
      }),
    );
  });

  it('names at least one address and at most 64', () => {
    const address = Address.fromHex(hash);
    expect(() => encodeAddressRequest(operations.get, [])).toThrow(RangeError);
    expect(() => encodeAddressRequest(operations.get, Array(65).fill(address))).toThrow(RangeError);
  });
});

describe('an answer', () => {
  it('that a chunk was found may announce anything up to a chunk’s size', () => {
    expect(() => checkAnswer(statuses.found, 0)).not.toThrow();
    expect(() => checkAnswer(statuses.found, limits.chunkBytes)).not.toThrow();
  });

  it.each([
    ['longer than any chunk', statuses.found, limits.chunkBytes + 1, 'CORRUPT'],
    ['of 4 GiB', statuses.found, 2 ** 32 - 1, 'CORRUPT'],
    ['that there is none', statuses.notFound, 0, 'NOT_FOUND'],
    ['that there is none, for a reason that is not known', statuses.notFound, 7, 'NOT_FOUND'],
    ['that the peer is busy', statuses.busy, 0, 'PEERS_UNREACHABLE'],
    ['that the peer failed', statuses.failed, 0, 'PEERS_UNREACHABLE'],
    ['that the operator has blocked the chunk', statuses.notFound, 451, 'DENIED'],
    ['that the peer refuses to give a chunk', statuses.refused, 0, 'CORRUPT'],
    ['with a status of another operation', statuses.full, 0, 'CORRUPT'],
    ['with an unknown status', 255, 0, 'CORRUPT'],
  ])('%s is an error (%#)', (_, status, length, code) => {
    expect(() => checkAnswer(status, length)).toThrow(expect.objectContaining({ code }));
  });
});

describe('the answer “busy”', () => {
  const { default: lookup, min, max } = limits.busyMs;

  it.each([
    ['no hint', 0, lookup, true],
    ['the hint of a lookup', lookup, lookup, false],
    ['a short hint', 1_000, 1_000, true],
    ['a hint that is too short', 1, min, true],
    ['a hint that is too long', 10 ** 9, max, false],
  ])('with %s is repeated in time', (_, length, afterMs, isOverloaded) => {
    expect(busyHint(busy(length))).toEqual({ afterMs, isOverloaded });
    expect(() => checkAnswer(statuses.busy, length)).toThrow(
      expect.objectContaining({ details: { answered: true, busy: { afterMs, isOverloaded } } }),
    );
  });
});

describe('a peer’s information', () => {
  it('is read without unknown fields', () => {
    expect(parseInfo({ name: 'p', version: '1.2', protocol: 1, webTransport, limits: {} })).toEqual({
      name: 'p',
      version: '1.2',
      protocol: 1,
      webTransport,
      operations: [],
      peers: [],
      network: null,
    });
  });

  it('has the state of its network', () => {
    const network = { name: 'mainnet', state: 'disconnected', peers: 0, since: '2026-11-01T00:00:00Z' };
    expect(parseInfo({ protocol: 1, network: { ...network, problem: 'no node', more: 1 } }).network).toEqual({
      ...network,
      problem: 'no node',
    });
    expect(parseInfo({ protocol: 1, network }).network).toEqual({ ...network, problem: null });
  });

  it('has a description of its network without control characters and marks of direction', () => {
    const network = { name: 'de\u202evnet\n', state: '\u0000', peers: 1, problem: '\u2066no\u2028 node' };
    expect(parseInfo({ protocol: 1, network }).network).toMatchObject({
      name: 'devnet',
      state: 'unknown',
      problem: 'no node',
    });
  });

  it('has a bounded description of its network, whatever the peer sends', () => {
    const { networkText: max } = limits;
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('name', 'state', 'peers', 'since', 'problem'), fc.anything()),
        (network) => {
          const parsed = parseInfo({ protocol: 1, network }).network!;
          expect(parsed.name.length).toBeLessThanOrEqual(max.name);
          expect(parsed.state.length).toBeLessThanOrEqual(max.state);
          expect(parsed.peers === null || (Number.isSafeInteger(parsed.peers) && parsed.peers >= 0)).toBe(
            true,
          );
        },
      ),
    );
    const long = 'x'.repeat(10_000);
    expect(
      parseInfo({ protocol: 1, network: { name: long, state: long, since: long, problem: long } }).network,
    ).toEqual({
      name: 'x'.repeat(max.name),
      state: 'x'.repeat(max.state),
      peers: null,
      since: 'x'.repeat(max.since),
      problem: 'x'.repeat(max.problem),
    });
    for (const network of [null, 'mainnet', 7, true]) {
      expect(parseInfo({ protocol: 1, network }).network).toBeNull();
    }
  });

  it('may be that it speaks HTTP only', () => {
    expect(parseInfo({ protocol: 1, webTransport: null }).webTransport).toBeNull();
    expect(parseInfo({ protocol: 1 }).webTransport).toBeNull();
  });

  it('may list versions that are not known here, beside the known one', () => {
    expect(parseInfo({ protocol: 2, protocols: [3, 2, 1] }).protocol).toBe(1);
    expect(parseInfo({ protocol: 1, protocols: [1, '2', null, {}] }).protocol).toBe(1);
  });

  it('without a common version is an error that names the versions of the peer', () => {
    const refused = (info: unknown) => () => parseInfo(info);
    expect(refused({ protocol: 1, protocols: [2, 3] })).toThrow(/version 1 .* It speaks: 2, 3\.$/);
    expect(refused({ protocol: 7 })).toThrow(/It speaks: 7\.$/);
    expect(refused({ protocol: 1, protocols: [] })).toThrow(/It speaks: none\.$/);
    const many = Array.from({ length: 10_000 }, (_, i) => i + 2);
    expect(refused({ protocols: many })).toThrow(/It speaks: 2, 3, 4, 5, 6, 7, 8, 9\.$/);
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['text', 'peer'],
    ['a list', []],
    ['no version of the protocol', {}],
    ['another version', { protocol: 2, webTransport }],
    ['a version in text', { protocol: '1', webTransport }],
    ['port 0', { protocol: 1, webTransport: { ...webTransport, port: 0 } }],
    ['port 65536', { protocol: 1, webTransport: { ...webTransport, port: 65_536 } }],
    ['a port in text', { protocol: 1, webTransport: { ...webTransport, port: '4433' } }],
    ['a host with a path', { protocol: 1, webTransport: { ...webTransport, host: 'a.example/x' } }],
    ['a host with a user', { protocol: 1, webTransport: { ...webTransport, host: 'user@a.example' } }],
    ['a host with a port', { protocol: 1, webTransport: { ...webTransport, host: 'a.example:443' } }],
    ['a host that is no text', { protocol: 1, webTransport: { ...webTransport, host: 7 } }],
    ['a path that would change the host', { protocol: 1, webTransport: { ...webTransport, path: '@evil/' } }],
    ['a path with a query', { protocol: 1, webTransport: { ...webTransport, path: '/v1?x' } }],
    ['no path', { protocol: 1, webTransport: { ...webTransport, path: undefined } }],
    ['a short hash', { protocol: 1, webTransport: { ...webTransport, certificateHashes: ['ab'] } }],
    ['hashes that are no list', { protocol: 1, webTransport: { ...webTransport, certificateHashes: hash } }],
    ['no hashes', { protocol: 1, webTransport: { port: 1, path: '/v1' } }],
  ])('is UNSUPPORTED when it is %s', (_, value) => {
    expect(() => parseInfo(value)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});
