// @module-tag slow
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encryptWorkers } from '../../src/cli/encrypt-workers.ts';
import { limits } from '../../src/limits.ts';
import { type Encrypter, EncrypterPool, withEncrypter } from '../../src/self-encryption/encrypter.ts';
import { encryptFile } from '../../src/self-encryption/file.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { fromRoot } from '../support/paths.ts';
import { codec, noise } from '../support/publish.ts';
import { sha256 } from '../support/tar.ts';

const folder = mkdtempSync(join(tmpdir(), 'antway-encrypter-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Five chunks, the last of them short; three of the shrunk map; and the record. */
const content = noise(11, 4 * limits.plaintextChunkBytes + 1_000);
const hash = sha256(content);
let expected: Awaited<ReturnType<typeof encrypt>>;
beforeAll(async () => {
  expected = await encrypt(codec, content);
});
const built = pathToFileURL(fromRoot('dist-cli/antway-encrypt.js'));

function scriptOf(text: string): URL {
  const path = join(folder, `${Math.random()}.mjs`);
  writeFileSync(path, text);
  return pathToFileURL(path);
}

async function encrypt(encrypter: Encrypter, bytes: Uint8Array, signal?: AbortSignal) {
  const chunks: string[] = [];
  const { address } = await encryptFile(encrypter, bufferAccess(bytes), {
    async emit({ address, bytes }) {
      chunks.push(`${address.hex} ${sha256(bytes)}`);
    },
    ...(signal ? { signal } : {}),
  });
  return { address: address.hex, chunks };
}

describe('several workers', () => {
  it('make the same chunks in the same order as one thread', async () => {
    const pool = new EncrypterPool(3, encryptWorkers(built).start);
    try {
      expect(expected.chunks).toHaveLength(5 + 3 + 1);
      expect(await encrypt(pool, content)).toEqual(expected);
      // The source still has its bytes: they were copied, not transferred.
      expect(sha256(content)).toBe(hash);
    } finally {
      pool.close();
    }
  });

  it.each([
    ['has no script', () => pathToFileURL(join(folder, 'absent.js')), /failed: Cannot find module/],
    ['throws', () => scriptOf('throw new Error("broken")'), /failed: broken/],
    [
      'ends while it works',
      () =>
        scriptOf(
          'import { parentPort } from "worker_threads"; parentPort.on("message", () => process.exit(7));',
        ),
      /failed: it ended with code 7/,
    ],
  ])('fail the publication if one of them %s', async (_, script, message) => {
    const { start } = encryptWorkers(script());
    await expect(
      withEncrypter(codec, content.length, { count: 2, start }, (encrypter) => encrypt(encrypter, content)),
    ).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringMatching(message) });
  });

  it('pass on the code and message of what they cannot do', async () => {
    const answer = '{ code: "UNSUPPORTED", message: "No cipher." }';
    const script = scriptOf(
      `import { parentPort } from "worker_threads"; parentPort.on("message", () => parentPort.postMessage(${answer}));`,
    );
    const pool = new EncrypterPool(2, encryptWorkers(script).start);
    await expect(encrypt(pool, content)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: 'No cipher.',
    });
    pool.close();
  });

  it('stop at an abort', async () => {
    const aborted = new AbortController();
    const { start } = encryptWorkers(built);
    const encrypting = withEncrypter(codec, content.length, { count: 2, start }, (encrypter) =>
      encrypt(
        {
          parallel: 3,
          encrypt(plaintext, keys) {
            aborted.abort(new Error('stopped'));
            return encrypter.encrypt(plaintext, keys);
          },
        },
        content,
        aborted.signal,
      ),
    );
    await expect(encrypting).rejects.toThrow('stopped');
  });
});

describe('an encrypter', () => {
  it('has as many parts at a time as it takes, and one that is late holds back the order only', async () => {
    const running = new Set<Uint8Array>();
    let most = 0;
    let finishFirst = () => {};
    const first = new Promise<void>((resolve) => {
      finishFirst = resolve;
    });
    let count = 0;
    const encrypter: Encrypter = {
      parallel: 3,
      async encrypt(plaintext, keys) {
        const index = count++;
        running.add(plaintext);
        most = Math.max(most, running.size);
        if (index === 0) await first;
        else if (index === 2) finishFirst();
        const bytes = await codec.encrypt(plaintext, keys);
        running.delete(plaintext);
        return bytes;
      },
    };
    expect(await encrypt(encrypter, content)).toEqual(expected);
    expect(most).toBe(3);
  });

  it('is the codec for small files, and on one processor', async () => {
    const start = () => {
      throw new Error('A worker was started.');
    };
    for (const [size, workers] of [
      [1_000, 8],
      [8 * 1024 ** 2 - 1, 8],
      [content.length, 1],
      [content.length, 0],
    ] as const) {
      expect(await withEncrypter(codec, size, { count: workers, start }, async (chosen) => chosen)).toBe(
        codec,
      );
    }
  });
});
