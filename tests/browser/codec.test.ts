import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { build } from 'vite';
import { libsodiumWasm } from '../../build/libsodium-wasm.ts';
import { expect, test } from '../support/chromium.ts';
import { fromRoot } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { vectorDetail, vectorInput, vectors } from '../support/vectors.ts';
import type { CodecPage } from './codec-page/codec-page.ts';

const encryptable = vectors.filter((vector) => !vector.encrypt_error);

// The page and the inputs are made once, and its tests share them.
test.describe.configure({ mode: 'default' });

let web: string;
let host: PeerProcess;
let page: Page;

test.beforeAll(async ({ browser }) => {
  web = mkdtempSync(join(tmpdir(), 'antway-codec-page-'));
  await build({
    configFile: false,
    root: fromRoot('tests/browser/codec-page'),
    logLevel: 'error',
    plugins: [libsodiumWasm()],
    build: { outDir: web, target: 'es2022', assetsInlineLimit: 0, modulePreload: false, minify: false },
  });
  mkdirSync(join(web, 'inputs'));
  for (const vector of encryptable) writeFileSync(join(web, inputOf(vector)), vectorInput(vector));
  host = await PeerProcess.start({ flags: ['--web', web], webTransport: 'none' });
  await host.putFixture('self-encryption');
  page = await browser.newPage();
  await page.goto(host.url);
  await page.waitForFunction(() => 'codecPage' in globalThis);
});

test.afterAll(async () => {
  await page?.close();
  await host?.stop();
  rmSync(web, { recursive: true, force: true });
});

const aeads = ['kernel', 'native', 'sodium'] as const;

/** Node runs the same code with larger inputs. Here the browser's own cipher counts, which each of them shows. */
const tagOf = ({ name }: { name: string }) => (['b3', 'b1000', 'text1mib'].includes(name) ? [] : '@full');

for (const vector of encryptable) {
  test(`${vector.name} encrypts to the network’s own addresses with every cipher, and decrypts again`, {
    tag: tagOf(vector),
  }, async () => {
    // Sixty megabytes with three ciphers, also on a busy machine.
    test.setTimeout(300_000);
    const { data_map, encrypted_chunks } = vectorDetail(vector.name);
    for (const aead of aeads) {
      const encrypted = await page.evaluate(
        ([aead, url]) => (globalThis as unknown as { codecPage: CodecPage }).codecPage.encrypt(aead, url),
        [aead, `/${inputOf(vector)}`] as const,
      );
      expect(encrypted.aead).toBe(aead);
      expect(encrypted.address, aead).toBe(vector.address);
      expect(encrypted.record, aead).toBe(data_map.msgpack_hex);
      expect(encrypted.chunks.slice(0, -1), aead).toEqual(encrypted_chunks);
      expect(encrypted.decryptsToInput, aead).toBe(true);
    }
  });
}

for (const vector of encryptable.filter(({ stored }) => stored)) {
  test(`${vector.name} decrypts with every cipher from the chunks of the network’s own crate`, {
    tag: tagOf(vector),
  }, async () => {
    for (const aead of aeads) {
      const decrypted = await page.evaluate(
        ([aead, address, url]) =>
          (globalThis as unknown as { codecPage: CodecPage }).codecPage.decrypt(aead, address, url),
        [aead, vector.address, `/${inputOf(vector)}`] as const,
      );
      expect(decrypted).toEqual({ aead, isInput: true });
    }
  });
}

function inputOf({ name }: { name: string }): string {
  return `inputs/${name}.bin`;
}
