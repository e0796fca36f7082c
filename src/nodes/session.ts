import { poly1305 } from '@noble/ciphers/_poly1305.js';
import { chacha20, chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { blake3 } from '@noble/hashes/blake3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { ml_kem768 } from '@noble/post-quantum/ml-kem.js';
import { equalBytes } from '../address.ts';
import { concat, textBytes } from './bytes.ts';
import { nodeError } from './node-error.ts';

const tags = { hello: 1, accept: 2, record: 3 } as const;
const version = [0, 1];
const handshakeDomain = textBytes('autonomi-webrtc-pq-handshake-v1\0');
const recordDomain = textBytes('autonomi-webrtc-pq-record-v1\0');
const toServer = textBytes('autonomi webrtc pq session v1 client to server');
const toClient = textBytes('autonomi webrtc pq session v1 server to client');

/** The parts of the node's answer, in this order, after the tag and the version. */
const acceptParts = { ciphertext: 1088, peerId: 32, publicKey: 1952, signature: 3309 };
export const acceptBytes = 3 + Object.values(acceptParts).reduce((sum, bytes) => sum + bytes, 0);

const recordHeadBytes = 1 + 8;
const authenticationBytes = 16;
const blockBytes = 16;
export const recordOverheadBytes = recordHeadBytes + authenticationBytes;

/** The client's half of the handshake: an ML-KEM-768 key for one session. */
export class Handshake {
  readonly hello: Uint8Array<ArrayBuffer>;
  readonly #secretKey: Uint8Array;

  /** @param seed 64 random bytes. Fixed ones are for vectors. */
  constructor(seed = crypto.getRandomValues(new Uint8Array(64))) {
    const { publicKey, secretKey } = ml_kem768.keygen(seed);
    this.#secretKey = secretKey;
    this.hello = concat(new Uint8Array([tags.hello, ...version]), publicKey);
  }

  /**
   * Authenticates the node and derives the keys of the session.
   * @param peerId of the dialled address: 32 bytes.
   * @throws AntwayError `CORRUPT`
   */
  finish(accept: Uint8Array, peerId: Uint8Array): Session {
    const head = [tags.accept, ...version];
    if (accept.length !== acceptBytes || !head.every((byte, i) => accept[i] === byte)) {
      throw nodeError('protocol', 'A node answered the handshake with something else.');
    }
    let at = head.length;
    const take = (bytes: number) => {
      at += bytes;
      return accept.subarray(at - bytes, at);
    };
    const ciphertext = take(acceptParts.ciphertext);
    const claimed = take(acceptParts.peerId);
    const publicKey = take(acceptParts.publicKey);
    const signature = take(acceptParts.signature);
    if (!equalBytes(claimed, peerId) || !equalBytes(blake3(publicKey), peerId)) {
      throw nodeError('identity', 'A node is not the one that its address names.');
    }
    const transcript = concat(handshakeDomain, this.hello, ciphertext, claimed);
    if (!isSigned(signature, transcript, publicKey)) {
      throw nodeError('identity', 'A node did not sign the handshake with its key.');
    }
    const secret = ml_kem768.decapsulate(ciphertext, this.#secretKey);
    const material = concat(secret, blake3(transcript));
    return new Session(blake3(material, { context: toServer }), blake3(material, { context: toClient }));
  }
}

/** Noble throws for some malformed keys and signatures. */
function isSigned(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ml_dsa65.verify(signature, message, publicKey);
  } catch {
    return false;
  }
}

/** Encrypts and decrypts the records of one connection, in their order. */
export class Session {
  readonly #outKey: Uint8Array;
  readonly #inKey: Uint8Array;
  #sent = 0n;
  #received = 0n;

  constructor(outKey: Uint8Array, inKey: Uint8Array) {
    this.#outKey = outKey;
    this.#inKey = inKey;
  }

  /** @returns tag ‖ sequence (u64) ‖ ciphertext ‖ 16 bytes of authentication. */
  encrypt(plaintext: Uint8Array): Uint8Array<ArrayBuffer> {
    const sequence = sequenceBytes(this.#sent++);
    return concat(
      new Uint8Array([tags.record]),
      sequence,
      recordCipher(this.#outKey, sequence).encrypt(plaintext),
    );
  }

  /**
   * Accepts the next record only: a replayed, left out or changed record ends the session.
   * @param record is overwritten: a chunk has four megabytes, so it is not copied.
   * @returns the first bytes of `record`.
   * @throws AntwayError `CORRUPT`
   */
  decrypt(record: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (record.length < recordOverheadBytes || record[0] !== tags.record) {
      throw nodeError('protocol', 'A node sent something that is no record.');
    }
    const sequence = sequenceBytes(this.#received);
    if (!equalBytes(record.subarray(1, recordHeadBytes), sequence)) {
      throw nodeError('protocol', 'A node sent a record out of its order.');
    }
    const end = record.length - authenticationBytes;
    const nonce = nonceOf(sequence);
    const tag = recordTag(this.#inKey, sequence, record.subarray(recordHeadBytes, end));
    if (!equalBytes(tag, record.subarray(end))) {
      throw nodeError('protocol', 'A record of a node does not belong to the session.');
    }
    this.#received++;
    // At the start of a buffer the cipher works on whole words.
    const plaintext = record.copyWithin(0, recordHeadBytes, end).subarray(0, end - recordHeadBytes);
    return chacha20(this.#inKey, nonce, plaintext, plaintext, 1) as Uint8Array<ArrayBuffer>;
  }
}

function sequenceBytes(sequence: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, sequence);
  return bytes;
}

const nonceOf = (sequence: Uint8Array) => concat(new Uint8Array(4), sequence);
const associatedOf = (sequence: Uint8Array) => concat(recordDomain, sequence);

function recordCipher(key: Uint8Array, sequence: Uint8Array) {
  return chacha20poly1305(key, nonceOf(sequence), associatedOf(sequence));
}

/**
 * A part of noble's Poly1305 that is not public: it takes one block without a copy. `update` copies, and the copies of each
 * chunk would be 4 MB of garbage. The version of noble is fixed, and the tests compare the results with vectors.
 */
interface InPlace {
  process(data: Uint8Array, at: number): void;
}

/** As `chacha20poly1305` computes it (RFC 8439), which copies all that it authenticates. This copies next to nothing. */
function recordTag(key: Uint8Array, sequence: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  const oneTimeKey = chacha20(key, nonceOf(sequence), new Uint8Array(32));
  const authenticator = poly1305.create(oneTimeKey);
  const inPlace = authenticator as unknown as InPlace;
  const associated = associatedOf(sequence);
  authenticator.update(associated).update(paddingAfter(associated));
  // No block is incomplete here.
  const rest = ciphertext.length % blockBytes;
  const whole = ciphertext.length - rest;
  for (let at = 0; at < whole; at += blockBytes) inPlace.process(ciphertext, at);
  authenticator.update(ciphertext.subarray(whole)).update(paddingAfter(ciphertext));
  const lengths = new DataView(new ArrayBuffer(16));
  lengths.setBigUint64(0, BigInt(associated.length), true);
  lengths.setBigUint64(8, BigInt(ciphertext.length), true);
  return authenticator.update(new Uint8Array(lengths.buffer)).digest();
}

const paddingAfter = ({ length }: Uint8Array) => new Uint8Array(-length & (blockBytes - 1));
