import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { encryptThread } from '../../src/self-encryption/encrypt-thread.ts';
import {
  answerOf,
  type EncryptAnswer,
  EncrypterPool,
  type EncryptRequest,
  type EncryptWorker,
  smallFileBytes,
  withEncrypter,
} from '../../src/self-encryption/encrypter.ts';

const keys = { pad: new Uint8Array(52), key: new Uint8Array(32), nonce: new Uint8Array(12) };
const codec = { encrypt: async (plaintext: Uint8Array) => new Uint8Array(plaintext).reverse() };

/** A worker whose answers the test gives. */
class FakeWorker implements EncryptWorker {
  readonly requests: EncryptRequest[] = [];
  answer!: (answer: EncryptAnswer) => void;
  fail!: (reason: string) => void;
  isTerminated = false;

  post(request: EncryptRequest): void {
    this.requests.push(request);
  }

  listen(answered: (answer: EncryptAnswer) => void, failed: (reason: string) => void): void {
    this.answer = answered;
    this.fail = failed;
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

function poolOf(count: number) {
  const workers: FakeWorker[] = [];
  const pool = new EncrypterPool(count, () => {
    const worker = new FakeWorker();
    workers.push(worker);
    return worker;
  });
  return { pool, workers };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a pool of encrypters', () => {
  it('starts its workers at once, takes one part more than it has workers, and ends them', () => {
    const { pool, workers } = poolOf(3);
    expect(workers).toHaveLength(3);
    expect(pool.parallel).toBe(4);
    expect(workers.map((worker) => worker.isTerminated)).toEqual([false, false, false]);
    pool.close();
    expect(workers.map((worker) => worker.isTerminated)).toEqual([true, true, true]);
  });

  it('gives a worker one part at a time, in the order of the parts', async () => {
    const { pool, workers } = poolOf(1);
    const parts = [1, 2, 3].map((byte) => pool.encrypt(Uint8Array.of(byte), keys));
    const given = () => workers[0]!.requests.map(({ plaintext }) => plaintext[0]);
    for (const count of [1, 2, 3]) {
      await settled();
      expect(given()).toEqual([1, 2, 3].slice(0, count));
      workers[0]!.answer({ bytes: Uint8Array.of(10 * count) });
    }
    expect((await Promise.all(parts)).map(([byte]) => byte)).toEqual([10, 20, 30]);
    // The worker is idle again.
    const last = pool.encrypt(Uint8Array.of(4), keys);
    await settled();
    expect(given()).toEqual([1, 2, 3, 4]);
    workers[0]!.answer({ bytes: Uint8Array.of(40) });
    expect(await last).toEqual(Uint8Array.of(40));
  });

  it('gives parts to all of its workers', async () => {
    const { pool, workers } = poolOf(2);
    const parts = [1, 2].map((byte) => pool.encrypt(Uint8Array.of(byte), keys));
    await settled();
    expect(workers.map(({ requests }) => requests.length)).toEqual([1, 1]);
    for (const worker of workers) worker.answer({ bytes: worker.requests[0]!.plaintext });
    expect((await Promise.all(parts)).map(([byte]) => byte)).toEqual([1, 2]);
  });

  it('sends a copy with the keys, also of a part of a larger buffer', async () => {
    const { pool, workers } = poolOf(1);
    const whole = Uint8Array.of(1, 2, 3, 4);
    void pool.encrypt(whole.subarray(1, 3), keys);
    await settled();
    const [request] = workers[0]!.requests;
    expect(request).toEqual({ plaintext: Uint8Array.of(2, 3), keys });
    expect(request!.plaintext.buffer).not.toBe(whole.buffer);
    expect(request!.plaintext.buffer.byteLength).toBe(2);
  });

  it('rejects with the code and message of the worker, which goes on', async () => {
    const { pool, workers } = poolOf(1);
    const refused = pool.encrypt(Uint8Array.of(1), keys);
    workers[0]!.answer({ code: 'UNSUPPORTED', message: 'No cipher.' });
    await expect(refused).rejects.toMatchObject({ code: 'UNSUPPORTED', message: 'No cipher.' });
    const next = pool.encrypt(Uint8Array.of(2), keys);
    await settled();
    workers[0]!.answer({ bytes: Uint8Array.of(9) });
    expect(await next).toEqual(Uint8Array.of(9));
  });

  it('rejects with INTERNAL when the worker fails, and from then on', async () => {
    const { pool, workers } = poolOf(1);
    const failing = pool.encrypt(Uint8Array.of(1), keys);
    workers[0]!.fail('gone');
    const error = { code: 'INTERNAL', message: expect.stringContaining('gone') };
    await expect(failing).rejects.toMatchObject(error);
    await expect(pool.encrypt(Uint8Array.of(2), keys)).rejects.toMatchObject(error);
    expect(workers[0]!.requests).toHaveLength(1);
  });

  it('can fail while it is idle', async () => {
    const { pool, workers } = poolOf(1);
    workers[0]!.fail('did not start');
    await expect(pool.encrypt(Uint8Array.of(1), keys)).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

describe('an encrypter of a file', () => {
  it('is a pool for a large file and two workers, and ends with the work', async () => {
    const workers: FakeWorker[] = [];
    const start = () => {
      workers.push(new FakeWorker());
      return workers.at(-1)!;
    };
    const work = withEncrypter(codec, smallFileBytes, { count: 2, start }, async (encrypter) => {
      expect(encrypter).toBeInstanceOf(EncrypterPool);
      expect(workers.map((worker) => worker.isTerminated)).toEqual([false, false]);
      throw new Error('no more');
    });
    await expect(work).rejects.toThrow('no more');
    expect(workers.map((worker) => worker.isTerminated)).toEqual([true, true]);
  });

  it.each([
    [smallFileBytes - 1, 2],
    [smallFileBytes, 1],
  ])('of %i bytes with %i workers is the codec', async (size, count) => {
    const start = () => expect.fail('A worker was started.');
    const work = async (encrypter: unknown) => encrypter;
    expect(await withEncrypter(codec, size, { count, start }, work)).toBe(codec);
  });
});

describe('the answer of a worker', () => {
  it('has the bytes of the chunk', async () => {
    const answer = await answerOf(codec, { plaintext: Uint8Array.of(1, 2), keys });
    expect(answer).toEqual({ bytes: Uint8Array.of(2, 1) });
  });

  it('has the code and message of an error', async () => {
    const failing = { encrypt: async () => Promise.reject(new Error('broken')) };
    const answer = await answerOf(failing, { plaintext: Uint8Array.of(1), keys });
    expect(answer).toMatchObject({ code: 'INTERNAL', message: expect.any(String) });
  });
});

describe('a thread of Node as a worker', () => {
  class Thread extends EventEmitter {
    readonly posted: unknown[] = [];
    terminations = 0;

    postMessage(message: unknown, transferred: unknown): void {
      this.posted.push([message, transferred]);
    }

    async terminate(): Promise<number> {
      return ++this.terminations;
    }
  }

  it('gets the buffer of a request, and ends when it is told to', () => {
    const thread = new Thread();
    const worker = encryptThread(thread as unknown as Worker);
    const plaintext = Uint8Array.of(1);
    worker.post({ plaintext, keys });
    expect(thread.posted).toEqual([[{ plaintext, keys }, [plaintext.buffer]]]);
    expect(thread.terminations).toBe(0);
    worker.terminate();
    expect(thread.terminations).toBe(1);
  });

  it('passes on answers, errors and its end', () => {
    const thread = new Thread();
    const heard: unknown[] = [];
    encryptThread(thread as unknown as Worker).listen(
      (answer) => heard.push(answer),
      (reason) => heard.push(reason),
    );
    thread.emit('message', { bytes: Uint8Array.of(1) });
    thread.emit('error', new Error('broken'));
    thread.emit('exit', 7);
    expect(heard).toEqual([{ bytes: Uint8Array.of(1) }, 'broken', expect.stringContaining('7')]);
  });
});
