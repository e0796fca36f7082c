import { blake3 } from '@noble/hashes/blake3.js';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../src/address.ts';
import { concat } from '../../src/nodes/bytes.ts';
import {
  type CandidateQuote,
  decodeCandidate,
  decodeChunkPut,
  encodeCandidate,
  encodeChunkPut,
} from '../../src/nodes/chunk-protocol.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import type { BatchProof } from '../../src/payment/batch.ts';
import { encodeBatchProof } from '../../src/payment/batch-proof.ts';
import { candidateFrom } from '../../src/payment/node-candidate.ts';
import type { NodePrice } from '../../src/payment/node-price.ts';
import vectors from '../fixtures/nodes/session.json' with { type: 'json' };

const { timestamp, account, chunkPut, candidates, refusedCandidate, proofs } = vectors.batch;
const { peerId, chunkMessages } = vectors;
const { requestId } = chunkMessages;
const target = fromHex(chunkMessages.target);
const isProtocol = expect.objectContaining({ details: { problem: 'protocol' } });
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

describe('the messages about chunks of batches', () => {
  const decode = (bytes: Uint8Array) => () => decodeChunkPut(bytes, requestId, target);

  it('are those of the network’s own crate', () => {
    const { content, proof, put, success, alreadyExists } = chunkPut;
    const parts = encodeChunkPut(requestId, target, fromHex(content), fromHex(proof));
    expect(toHex(concat(...parts))).toBe(put);
    for (const answer of [success, alreadyExists]) expect(decode(fromHex(answer))).not.toThrow();
  });

  it.each([
    ['paymentRequired', 'payment_required'],
    ['paymentFailed', 'payment_required'],
    ['storageFailed', 'put_failed'],
  ] as const)('say why a node refused a chunk: %s', (answer, reason) => {
    expect(decode(fromHex(chunkPut[answer]))).toThrowError(
      expect.objectContaining({ details: { problem: 'refused', reason } }),
    );
  });

  it('are refused if they are cut, longer, of another kind, or about something else', () => {
    const { success } = chunkPut;
    for (const length of [0, 1, 2, 3, 4, 20, 35]) {
      expect(decode(fromHex(success).subarray(0, length))).toThrowError(isProtocol);
    }
    expect(decode(new Uint8Array([...fromHex(success), 0]))).toThrowError(isProtocol);
    expect(decode(fromHex(success).fill(0, 10)), 'another address').toThrowError(isProtocol);
    expect(decode(fromHex(success).fill(9, 3, 4)), 'an unknown result').toThrowError(isProtocol);
    expect(decode(fromHex(vectors.pointerPut.success)), 'another answer').toThrowError(isProtocol);
    expect(() => decodeChunkPut(fromHex(success), requestId + 1, target)).toThrowError(isProtocol);
  });
});

describe.each(candidates)('the price of a node for a pool ($committedKeyCount records)', (vector) => {
  const { request, response, committedKeyCount, price } = vector;
  const quote = decodeCandidate(fromHex(response), requestId);
  const checked = (changed: Partial<CandidateQuote> = {}, peer = peerId, time = timestamp) =>
    candidateFrom({ ...quote, ...changed }, peer, time);
  const withByte = (at: number, value: number) => {
    const candidate = quote.candidate.slice();
    candidate[at] = value;
    return { candidate };
  };

  it('is asked for and read as the network’s own crate does', () => {
    expect(toHex(encodeCandidate(requestId, target, nodeLimits.chunkBytes, timestamp))).toBe(request);
    expect(checked()).toMatchObject({
      peer: peerId,
      timestamp,
      price,
      rewardsAddress: account,
      committedKeyCount,
    });
  });

  it('is refused if the message is cut, longer, or of another kind', () => {
    const bytes = fromHex(response);
    for (const length of [0, 1, 2, 3, 5, 100, bytes.length - 1]) {
      expect(() => decodeCandidate(bytes.subarray(0, length), requestId), `${length}`).toThrowError(
        isProtocol,
      );
    }
    expect(() => decodeCandidate(new Uint8Array([...bytes, 0]), requestId)).toThrowError(isProtocol);
    expect(() => decodeCandidate(bytes, requestId + 1)).toThrowError(isProtocol);
    expect(() => decodeCandidate(fromHex(chunkPut.success), requestId)).toThrowError(isProtocol);
    expect(() => decodeCandidate(bytes.slice().fill(7, 3, 4), requestId)).toThrowError(isProtocol);
  });

  it('is refused if it is of another node or time, or anything in it was changed', () => {
    expect(() => checked({}, 'ef'.repeat(32))).toThrow('another key');
    expect(() => checked({}, peerId, timestamp + 1)).toThrow('another time');
    const { candidate } = quote;
    // The key begins after five bytes; the price, the account, the time and the signature follow it.
    for (const at of [0, 1, 5, 6, Math.floor(candidate.length / 2), candidate.length - 1]) {
      expect(() => checked(withByte(at, candidate[at]! ^ 1)), `byte ${at}`).toThrow();
    }
    expect(() => checked({ candidate: candidate.subarray(0, -1) })).toThrow();
    expect(() => checked({ candidate: concat(candidate, new Uint8Array(1)) })).toThrow();
    expect(() => checked({ candidate: new Uint8Array() })).toThrow();
    // An array that claims four billion values.
    expect(() => checked({ candidate: Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff) })).toThrow();
  });

  it('needs exactly the commitment that it is derived from', () => {
    if (committedKeyCount === 0) {
      const [, other] = candidates;
      const { commitment } = decodeCandidate(fromHex(other!.response), requestId);
      expect(() => checked({ commitment })).toThrow('A commitment to no records.');
      return;
    }
    expect(() => checked({ commitment: null })).toThrow(
      'The node does not have the commitment of its price.',
    );
    const { length } = quote.commitment!;
    // In the root, and in the signature.
    for (const at of [5, length - 1]) {
      const commitment = quote.commitment!.slice();
      commitment[at]! ^= 1;
      expect(() => checked({ commitment }), `byte ${at}`).toThrow();
    }
  });
});

it('a node that wants another program gives no price, and is no liar', () => {
  expect(() => decodeCandidate(fromHex(refusedCandidate), requestId)).toThrowError(
    expect.objectContaining({ details: { problem: 'refused' } }),
  );
});

describe('the proof of a payment for a batch', () => {
  /** The rule by which the generator makes keys and signatures. */
  const series = (length: number, seed: number) =>
    Uint8Array.from({ length }, (_, i) => (i * 7 + seed) & 0xff);

  it.each(proofs)('has the bytes of the network’s own crate ($chunks chunks)', (vector) => {
    const { address, root, leaf, pool, prices, proofBytes, proofHash } = vector;
    const nodes = prices.map((price, i): NodePrice => {
      const committedKeyCount = i % 2 === 1 ? 300 * i : 0;
      const publicKey = series(1952, i);
      return {
        peer: toHex(blake3(publicKey)),
        timestamp,
        price,
        rewardsAddress: account,
        publicKey: base64(publicKey),
        signature: base64(series(3309, i + 1)),
        committedKeyCount,
        commitmentPin: committedKeyCount > 0 ? toHex(series(32, i)) : null,
        commitment: null,
      };
    });
    const proof: BatchProof = { address, size: 1, timestamp, root, leaf, pool: { ...pool, nodes } };
    const encoded = encodeBatchProof(proof);
    expect([encoded.length, toHex(blake3(encoded))]).toEqual([proofBytes, proofHash]);
  });
});
