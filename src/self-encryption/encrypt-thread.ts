import type { Worker } from 'node:worker_threads';
import type { EncryptWorker } from './encrypter.ts';

/** A thread of Node as a worker that encrypts. */
export function encryptThread(thread: Worker): EncryptWorker {
  return {
    post: (request) => thread.postMessage(request, [request.plaintext.buffer]),
    listen(answered, failed) {
      thread.on('message', answered);
      thread.on('error', ({ message }) => failed(message));
      thread.on('exit', (code) => failed(`it ended with code ${code}`));
    },
    terminate: () => void thread.terminate(),
  };
}
