import { createCipheriv } from 'node:crypto';

/** Seed of everything random in the tests. It is the same by default, so that a failure comes again. */
export const testSeed = Number(process.env.ANTWAY_TEST_SEED ?? 1);

let calls = 0;

/** Bytes without any pattern: other ones at each call, and the same in each run with this seed. */
export function randomBytes(size: number): Buffer {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(testSeed >>> 0, 0);
  key.writeUInt32LE(++calls, 4);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

/** For the start of a run. */
export function printSeed(): void {
  console.log(`Random tests use the seed ${testSeed}. ANTWAY_TEST_SEED sets another one.`);
}
