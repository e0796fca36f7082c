import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { encryptThread } from '../self-encryption/encrypt-thread.ts';
import type { EncryptWorkers } from '../self-encryption/encrypter.ts';

/** Each takes some 60 MB of memory. */
const mostWorkers = 8;

/** @param script the built `encrypt-worker.ts`. */
export function encryptWorkers(script: URL): EncryptWorkers {
  return {
    count: Math.min(availableParallelism(), mostWorkers),
    start: () => encryptThread(new Worker(script)),
  };
}
