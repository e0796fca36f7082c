import { blake3 } from '@noble/hashes/blake3.js';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../src/address.ts';
import { synthesiseAnswer } from '../../src/nodes/answer.ts';
import {
  decodePointerGet,
  decodePointerPut,
  encodePointerGet,
  encodePointerPut,
} from '../../src/nodes/chunk-protocol.ts';
import { FrameReader } from '../../src/nodes/frames.ts';
import {
  decodeResponse,
  encodeRequest,
  errorCode,
  parseChunk,
  parseHello,
  parseNodes,
} from '../../src/nodes/messages.ts';
import { formatNodeAddress, parseNodeAddress } from '../../src/nodes/node-address.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import { Handshake, Session } from '../../src/nodes/session.ts';
import type { NodePrice } from '../../src/payment/node-price.ts';
import { encodeProof } from '../../src/payment/node-quote.ts';
import vectors from '../fixtures/nodes/session.json' with { type: 'json' };

const peerId = fromHex(vectors.peerId);
const target = fromHex(vectors.chunkMessages.target);

function handshake() {
  return new Handshake(fromHex(vectors.kemSeed));
}

/** The payload of a frame that arrives in messages of 16 KiB. */
function unframe(framed: Uint8Array): Uint8Array<ArrayBuffer> {
  const reader = new FrameReader();
  reader.expect(1 << 20);
  for (let at = 0; ; at += nodeLimits.messageBytes) {
    const payload = reader.take(framed.subarray(at, at + nodeLimits.messageBytes));
    if (payload) return payload;
  }
}

describe('the session with the network’s own crate', () => {
  it('begins with the same client hello for the same seed', () => {
    expect(toHex(handshake().hello)).toBe(vectors.clientHello);
  });

  it('decrypts the records that the crate encrypted', () => {
    const session = handshake().finish(fromHex(vectors.accept), peerId);
    for (const { frame, framed } of vectors.records) {
      expect(toHex(session.decrypt(unframe(fromHex(framed))))).toBe(frame);
    }
  });

  it('encrypts the records that the crate decrypted', () => {
    const session = handshake().finish(fromHex(vectors.accept), peerId);
    const address = vectors.chunkMessages.target;
    const requests = [
      encodeRequest(1, { type: 'hello' }),
      encodeRequest(2, { type: 'find_node', target: address, count: 20 }),
      encodeRequest(3, { type: 'get_chunk', address }),
      encodeRequest(4, { type: 'chunk_protocol' }, encodePointerGet(4, target)),
    ];
    expect(requests.map((request) => toHex(session.encrypt(request)))).toEqual(
      vectors.opened.map(({ record }) => record),
    );
    expect(vectors.opened.map(({ request }) => request.type)).toEqual([
      'hello',
      'find_node',
      'get_chunk',
      'chunk_protocol',
    ]);
  });

  it('is refused if one bit of the answer is wrong', () => {
    const accept = fromHex(vectors.accept);
    for (const at of [0, 2, 3, 700, 1091, 1200, 3074, 3075, accept.length - 1]) {
      const changed = new Uint8Array(accept);
      changed[at]! ^= 1;
      expect(() => handshake().finish(changed, peerId), `byte ${at}`).toThrowError(
        expect.objectContaining({ code: 'CORRUPT' }),
      );
    }
    for (const length of [0, 1, accept.length - 1]) {
      expect(() => handshake().finish(accept.subarray(0, length), peerId)).toThrow();
    }
  });

  it('is refused for another node, and for another client’s hello', () => {
    const accept = fromHex(vectors.accept);
    expect(() => handshake().finish(accept, new Uint8Array(32))).toThrowError(
      expect.objectContaining({ details: { problem: 'identity' } }),
    );
    expect(() => new Handshake(new Uint8Array(64)).finish(accept, peerId)).toThrowError(
      expect.objectContaining({ details: { problem: 'identity' } }),
    );
  });

  it('accepts each record once, in order, and unchanged', () => {
    const records = vectors.records.map(({ framed }) => unframe(fromHex(framed)));
    const session = handshake().finish(fromHex(vectors.accept), peerId);
    expect(() => session.decrypt(records[1]!), 'a gap').toThrow();
    session.decrypt(records[0]!.slice());
    expect(() => session.decrypt(records[0]!), 'a replay').toThrow();
    const changed = new Uint8Array(records[1]!);
    changed[20]! ^= 1;
    expect(() => session.decrypt(changed), 'a changed record').toThrow();
    expect(() => session.decrypt(records[1]!.subarray(0, 24)), 'a short record').toThrow();
    expect(() => session.decrypt(new Uint8Array()), 'nothing').toThrow();
    expect(session.decrypt(records[1]!).length).toBeGreaterThan(0);
  });
});

describe('a record', () => {
  const [own, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];

  it.each([...Array.from({ length: 50 }, (_, length) => length), 4095, 4096, 4097, 70_001])(
    'of %i bytes, which the library encrypted as a whole, is decrypted in place',
    (length) => {
      const plaintext = new Uint8Array(length).map((_, i) => 7 * i + length);
      const record = new Session(own, other).encrypt(plaintext);
      expect(Buffer.from(new Session(other, own).decrypt(record.slice()))).toEqual(Buffer.from(plaintext));
      for (const at of [9, 9 + (length >> 1), record.length - 17, record.length - 1]) {
        const changed = record.slice();
        changed[at]! ^= 0x80;
        expect(() => new Session(other, own).decrypt(changed), `byte ${at}`).toThrow();
      }
    },
  );
});

describe('messages of the network’s own crate', () => {
  const [hello, nodes, chunk, notFound, error] = vectors.records.map(({ frame }) =>
    decodeResponse(fromHex(frame)),
  );

  it('are understood', () => {
    expect([...parseHello(hello!, vectors.peerId).capabilities]).toContain('rpc-multiplex-4');
    const { addresses, peerIds } = parseNodes(nodes!, vectors.chunkMessages.target);
    expect(addresses.map(formatNodeAddress)).toEqual([vectors.multiaddr]);
    expect([...peerIds]).toContain(addresses[0]!.peerId);
    const address = toHex(blake3(chunk!.body));
    expect(parseChunk(chunk!, address)).toHaveLength(40_000);
    expect(parseChunk(notFound!, vectors.chunkMessages.target)).toBeUndefined();
    expect([error!.status, errorCode(error!)]).toEqual(['error', 'storage_error']);
  });

  it('about pointers are the same', () => {
    const { requestId, get, success, notFound, error, largeId } = vectors.chunkMessages;
    expect(toHex(encodePointerGet(requestId, target))).toBe(get);
    expect(decodePointerGet(fromHex(success), requestId, target, 5303)).toEqual(new Uint8Array(5303).fill(7));
    expect(decodePointerGet(fromHex(notFound), requestId, target, 5303)).toBeUndefined();
    expect(() => decodePointerGet(fromHex(error), requestId, target, 5303)).toThrowError(
      expect.objectContaining({ details: { problem: 'refused' } }),
    );
    expect(() => decodePointerGet(fromHex(largeId), requestId, target, 5303)).toThrowError(
      expect.objectContaining({ details: { problem: 'protocol' } }),
    );
  });

  it('about states of pointers are the same', () => {
    const { requestId, proof, put, success, unchanged, stale, ...refused } = vectors.pointerPut;
    const state = fromHex(refused.state);
    expect(toHex(encodePointerPut(requestId, new Uint8Array(5303).fill(7), fromHex(proof)))).toBe(put);
    const decode = (bytes: Uint8Array) => decodePointerPut(bytes, requestId, target, state);
    expect([success, unchanged, stale].map((text) => decode(fromHex(text)))).toEqual([
      'stored',
      'stored',
      'stale',
    ]);
    const refusal = (reason: string) => expect.objectContaining({ details: { problem: 'refused', reason } });
    expect(() => decode(fromHex(refused.paymentRequired))).toThrowError(refusal('payment_required'));
    expect(() => decode(fromHex(refused.paymentFailed))).toThrowError(refusal('payment_required'));
    expect(() => decode(fromHex(refused.storageFailed))).toThrowError(refusal('put_failed'));
    const isProtocol = expect.objectContaining({ details: { problem: 'protocol' } });
    for (const length of [0, 1, 2, 3, 4, 35, 67]) {
      expect(() => decode(fromHex(success).subarray(0, length))).toThrowError(isProtocol);
    }
    expect(() => decode(new Uint8Array([...fromHex(success), 0]))).toThrowError(isProtocol);
    expect(() => decode(fromHex(stale).fill(0, 4, 10)), 'another address').toThrowError(isProtocol);
    expect(() => decode(fromHex(success).fill(0, 60)), 'another state').toThrowError(isProtocol);
    expect(() => decode(fromHex(vectors.chunkMessages.success)), 'another answer').toThrowError(isProtocol);
    expect(() => decodePointerPut(fromHex(success), requestId + 1, target, state)).toThrowError(isProtocol);
  });

  it.each(vectors.proofs)('prove a payment in the same bytes ($committedKeyCount records)', (vector) => {
    const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
    const { commitment } = vector;
    const price: NodePrice = {
      ...vector,
      publicKey: base64(vector.publicKey),
      signature: base64(vector.signature),
      commitment: commitment && { ...commitment, signature: base64(commitment.signature) },
    };
    expect(toHex(encodeProof(price, fromHex(vector.content), vector.transaction))).toBe(vector.proof);
  });

  it('about pointers are refused if they are cut, longer, or of another address', () => {
    const { requestId, success, notFound } = vectors.chunkMessages;
    const decode = (bytes: Uint8Array) => () => decodePointerGet(bytes, requestId, target, 5303);
    for (const length of [0, 1, 2, 3, 5, 40, 5306]) {
      expect(decode(fromHex(success).subarray(0, length))).toThrow();
    }
    expect(decode(new Uint8Array([...fromHex(success), 0]))).toThrow();
    expect(decode(fromHex(notFound).fill(0, 10))).toThrow();
    expect(decode(new Uint8Array(20).fill(0xff))).toThrow();
  });

  it('answer an offer with the same description, apart from one line', () => {
    const offer = `v=0\r\na=ice-ufrag:abcd\r\na=ice-pwd:${vectors.icePassword}\r\na=mid:0\r\n`;
    expect(synthesiseAnswer(offer, parseNodeAddress(vectors.multiaddr)!)).toBe(
      // Chromium connects faster to a node that does not claim to be lite.
      vectors.answer.replace('a=ice-lite\r\n', ''),
    );
  });
});

describe('an answer to an offer', () => {
  it.each([
    ['no password', 'v=0\r\n'],
    ['two passwords', 'a=ice-pwd:aaaaaaaaaaaaaaaaaaaaaaaa\r\na=ice-pwd:bbbbbbbbbbbbbbbbbbbbbbbb\r\n'],
    ['a short password', 'a=ice-pwd:short\r\n'],
    ['a password with other characters', 'a=ice-pwd:aaaaaaaaaaaaaaaaaaaaaaaa bbbbb\r\n'],
    ['a password that is too long', `a=ice-pwd:${'a'.repeat(240)}\r\n`],
  ])('is not made for %s', (_, offer) => {
    const address = parseNodeAddress(vectors.multiaddr)!;
    expect(() => synthesiseAnswer(offer, address)).toThrowError(
      expect.objectContaining({ code: 'PEERS_UNREACHABLE' }),
    );
  });
});
