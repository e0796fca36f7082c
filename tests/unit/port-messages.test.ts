import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { portLimits } from '../../src/nodes/port-limits.ts';
import { parseLeaderMessage, parseWorkerMessage } from '../../src/nodes/port-messages.ts';

const request = { type: 'request', id: 3, kind: 'chunk', address: 'ab'.repeat(32), limit: 100 };
const status = { connected: 1, known: 2, lookups: 0 };
const answer = { type: 'answer', id: 3, records: [new ArrayBuffer(2)] };
const error = { type: 'error', id: 3, code: 'NOT_FOUND', message: 'No.' };

describe('a message of the worker', () => {
  it.each([
    [request],
    [{ ...request, kind: 'pointer' }],
    [{ type: 'cancel', id: 0 }],
    [{ type: 'ping' }],
    [{ type: 'end' }],
  ])('is accepted: %o', (message) => {
    expect(parseWorkerMessage(structuredClone(message))).toEqual(message);
  });

  it('loses properties that the protocol does not have', () => {
    expect(parseWorkerMessage({ ...request, seeds: ['evil'] })).toEqual(request);
  });

  it.each([
    [undefined],
    [null],
    [7],
    ['request'],
    [[]],
    [{}],
    [{ ...request, type: 'constructor' }],
    [{ ...request, type: '__proto__' }],
    [{ ...request, id: '3' }],
    [{ ...request, id: -1 }],
    [{ ...request, id: 0.5 }],
    [{ ...request, id: Number.NaN }],
    [{ ...request, id: 2 ** 53 }],
    [{ ...request, kind: 'toString' }],
    [{ ...request, kind: ['chunk'] }],
    [{ ...request, address: 'ab' }],
    [{ ...request, address: `${'ab'.repeat(32)}\n` }],
    [{ ...request, address: ['ab'.repeat(32)] }],
    [{ ...request, address: 'a'.repeat(1_000_000) }],
    [{ ...request, limit: limits.chunkBytes + 1 }],
    [{ ...request, limit: Number.POSITIVE_INFINITY }],
    [{ type: 'cancel' }],
    [{ type: 'cancel', id: null }],
  ])('is refused: %o', (message) => {
    expect(parseWorkerMessage(message)).toBeUndefined();
  });

  it('gets nothing from a prototype', () => {
    expect(parseWorkerMessage(Object.create(request))).toBeUndefined();
    expect(parseWorkerMessage(JSON.parse(`{"__proto__": ${JSON.stringify(request)}}`))).toBeUndefined();
  });
});

describe('a message of the leader', () => {
  it.each([
    [answer],
    [{ ...answer, records: [] }],
    [error],
    [{ type: 'status', status }],
    [{ type: 'first-byte', id: 1 }],
    [{ type: 'end' }],
  ])('is accepted: %o', (message) => {
    expect(parseLeaderMessage(message)).toEqual(message);
  });

  it.each([
    [undefined],
    [[answer]],
    [{ ...answer, id: [3] }],
    [{ ...answer, records: new ArrayBuffer(2) }],
    [{ ...answer, records: [new Uint8Array(2)] }],
    [{ ...answer, records: [new SharedArrayBuffer(2)] }],
    [{ ...answer, records: [{ byteLength: 2 }] }],
    [{ ...answer, records: { length: 1, 0: new ArrayBuffer(2) } }],
    [{ ...answer, records: new Array(1) }],
    [{ ...answer, records: new Array(portLimits.records + 1).fill(new ArrayBuffer(1)) }],
    [{ ...error, code: 'constructor' }],
    [{ ...error, code: '__proto__' }],
    [{ ...error, code: ['NOT_FOUND'] }],
    [{ ...error, code: 404 }],
    [{ ...error, message: { toString: 'x' } }],
    [{ type: 'status' }],
    [{ type: 'status', status: null }],
    [{ type: 'status', status: { ...status, connected: '12' } }],
    [{ type: 'status', status: { ...status, known: -1 } }],
    [{ type: 'status', status: Object.create(status) }],
    [{ type: 'hasOwnProperty', id: 1 }],
    [{ type: 'first-byte' }],
  ])('is refused: %o', (message) => {
    expect(parseLeaderMessage(message)).toBeUndefined();
  });
});

it('no value makes a parser throw', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withTypedArray: true, withMap: true }), (value) => {
      for (const message of [
        value,
        { type: value },
        { ...answer, records: [value] },
        { ...request, limit: value },
      ]) {
        parseLeaderMessage(message);
        parseWorkerMessage(message);
      }
    }),
  );
});
