import { createHash } from 'node:crypto';
import { vi } from 'vitest';

// Tests with doubles of nodes make and check the same signatures again and again, each in 10 to 30 ms. This module remembers
// the results of the real functions. Import it before the modules under test.

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

vi.mock('@noble/post-quantum/ml-dsa.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('@noble/post-quantum/ml-dsa.js')>();
  const { ml_dsa65 } = original;
  const fast = {
    keygen: remembered(ml_dsa65.keygen.bind(ml_dsa65)),
    sign: remembered(ml_dsa65.sign.bind(ml_dsa65)),
    verify: remembered(ml_dsa65.verify.bind(ml_dsa65)),
  };
  return { ...original, ml_dsa65: { ...ml_dsa65, ...fast } };
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
