import { encryptThread } from '../self-encryption/encrypt-thread.ts';
import type { EncryptAnswer, EncryptWorker, EncryptWorkers } from '../self-encryption/encrypter.ts';
import { deriveKeys } from '../self-encryption/keys.ts';
import { nodeThreads, processors } from './threads.ts';

/** Each takes some 70 MB of memory. */
export const mostThreads = 4;

/** How long the first worker may take to start and to encrypt three bytes. A busy machine is slow. */
const firstAnswerMs = 30_000;

/**
 * The workers that encrypt large content. None if this platform, its policy or its bundle does not let them start: then
 * the caller's thread encrypts.
 * @param most the caller's limit.
 */
export async function encryptWorkers(most: number): Promise<EncryptWorkers> {
  const none: EncryptWorkers = { count: 0, start };
  const count = Math.min(processors() ?? most, most);
  if (count < 2) return none;
  let first: EncryptWorker;
  try {
    first = start();
  } catch {
    return none;
  }
  const answered = await answers(first);
  first.terminate();
  return answered ? { count, start } : none;
}

/** @throws an error of the platform. */
function start(): EncryptWorker {
  const threads = nodeThreads();
  if (threads) {
    // Bundlers would copy a file that they find in `new URL(…)`.
    const script = new URL(import.meta.url.replace(/[^/]*$/, 'encrypt-worker.js'));
    return encryptThread(new threads.Worker(script));
  }
  // The build writes this as `new URL('./encrypt-worker.js', import.meta.url)`, which bundlers understand.
  const worker = new Worker(__ANTWAY_ENCRYPT_WORKER__, { type: 'module' });
  return {
    post: (request) => worker.postMessage(request, [request.plaintext.buffer]),
    listen(answered, failed) {
      worker.onmessage = ({ data }: MessageEvent<EncryptAnswer>) => answered(data);
      worker.onerror = (event) => {
        event.preventDefault?.(); // Deno would end the program
        failed(event.message || 'its script did not load');
      };
    },
    terminate: () => worker.terminate(),
  };
}

async function answers(worker: EncryptWorker): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, firstAnswerMs, false);
      worker.listen(
        (answer) => resolve('bytes' in answer),
        () => resolve(false),
      );
      const keys = deriveKeys(new Uint8Array(3 * 32), 0, 0);
      worker.post({ plaintext: new Uint8Array(3), keys });
    });
  } finally {
    clearTimeout(timer);
  }
}
