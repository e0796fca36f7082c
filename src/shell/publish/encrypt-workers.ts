import type { EncryptAnswer, EncryptWorkers } from '../../self-encryption/encrypter.ts';

/** Each takes some 70 MB of memory. */
const mostWorkers = 4;

/** Workers of a worker. `count` is 0 in browsers that have none. */
export const encryptWorkers: EncryptWorkers = {
  count: 'Worker' in globalThis ? Math.min(navigator.hardwareConcurrency, mostWorkers) : 0,
  start() {
    const worker = new Worker(new URL('./encrypt-worker.ts', import.meta.url), { type: 'module' });
    return {
      post: (request) => worker.postMessage(request, [request.plaintext.buffer]),
      listen(answered, failed) {
        worker.onmessage = ({ data }: MessageEvent<EncryptAnswer>) => answered(data);
        worker.onerror = ({ message }) => failed(message || 'its script did not load');
      },
      terminate: () => worker.terminate(),
    };
  },
};
