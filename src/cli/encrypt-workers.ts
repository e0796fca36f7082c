import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { EncryptWorkers } from '../self-encryption/encrypter.ts';

/** Each takes some 60 MB of memory. */
const mostWorkers = 8;

/** @param script the built `encrypt-worker.ts`. */
export function encryptWorkers(script: URL): EncryptWorkers {
  return {
    count: Math.min(availableParallelism(), mostWorkers),
    start() {
      const worker = new Worker(script);
      return {
        post: (request) => worker.postMessage(request, [request.plaintext.buffer]),
        listen(answered, failed) {
          worker.on('message', answered);
          worker.on('error', ({ message }) => failed(message));
          worker.on('exit', (code) => failed(`it ended with code ${code}`));
        },
        terminate: () => void worker.terminate(),
      };
    },
  };
}
