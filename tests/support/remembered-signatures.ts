import { createHash, randomBytes } from 'node:crypto';
import { vi } from 'vitest';

// Tests with doubles of nodes make and check the same signatures again and again, each in 10 to 30 ms. This module remembers
// the results of the real functions. Import it before the modules under test.

type Dsa = typeof import('@noble/post-quantum/ml-dsa.js')['ml_dsa65'];

/** `fast-signatures.ts` sets it. */
export const signatures = { areFast: false };

/** A function of bytes that returns its former result for the same bytes. */
function remembered<Arguments extends unknown[], Result>(
  compute: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  const results = new Map<string, Result>();
  return (...args) => {
    const key = hashOf(args);
    if (!results.has(key)) results.set(key, compute(...args));
    return results.get(key)!;
  };
}

function hashOf(args: unknown[]): string {
  const hash = createHash('sha256');
  const add = (value: unknown) => {
    if (value instanceof Uint8Array) hash.update(`${value.length}:`).update(value);
    else if (value && typeof value === 'object') Object.entries(value).flat().forEach(add);
    else hash.update(`${typeof value} ${String(value)};`);
  };
  args.forEach(add);
  return hash.digest('base64');
}

/** Signatures of the right length that take no time. Other signatures are checked by the real function. */
function fastSignatures(real: Pick<Dsa, 'keygen' | 'sign' | 'verify'>, length: number) {
  const publicKeys = new Map<string, Uint8Array>();
  const made = new Set<string>();
  const signed = (
    signature: Uint8Array,
    message: Uint8Array,
    key: Uint8Array,
    options?: { context?: Uint8Array },
  ) => hashOf([signature, message, key, options?.context ?? new Uint8Array()]);
  const keygen: Dsa['keygen'] = (seed) => {
    const keys = real.keygen(seed);
    publicKeys.set(hashOf([keys.secretKey]), keys.publicKey);
    return keys;
  };
  const sign: Dsa['sign'] = (message, secretKey, options) => {
    const publicKey = publicKeys.get(hashOf([secretKey]));
    // Without entropy, the same bytes have to get the same signature.
    if (!publicKey || options?.extraEntropy === false) return real.sign(message, secretKey, options);
    const signature = new Uint8Array(randomBytes(length));
    made.add(signed(signature, message, publicKey, options));
    return signature;
  };
  const verify: Dsa['verify'] = (signature, message, publicKey, options) =>
    made.has(signed(signature, message, publicKey, options)) ||
    real.verify(signature, message, publicKey, options);
  return { keygen, sign, verify };
}

vi.mock('@noble/post-quantum/ml-dsa.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('@noble/post-quantum/ml-dsa.js')>();
  const { ml_dsa65 } = original;
  const fast = {
    keygen: remembered(ml_dsa65.keygen.bind(ml_dsa65)),
    sign: remembered(ml_dsa65.sign.bind(ml_dsa65)),
    verify: remembered(ml_dsa65.verify.bind(ml_dsa65)),
  };
  const used = signatures.areFast ? fastSignatures(fast, ml_dsa65.lengths.signature!) : fast;
  return { ...original, ml_dsa65: { ...ml_dsa65, ...used } };
});

// With the same ephemeral keys, the signatures of handshakes are the same, too.
vi.mock('@noble/post-quantum/ml-kem.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('@noble/post-quantum/ml-kem.js')>();
  const { ml_kem768 } = original;
  const keys = ml_kem768.keygen(new Uint8Array(64).fill(7));
  const message = new Uint8Array(32).fill(7);
  const fast = {
    keygen: () => keys,
    encapsulate: remembered((key: Uint8Array) => ml_kem768.encapsulate(key, message)),
    decapsulate: remembered(ml_kem768.decapsulate.bind(ml_kem768)),
  };
  return { ...original, ml_kem768: { ...ml_kem768, ...fast } };
});
