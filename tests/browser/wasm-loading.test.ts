import { expect, fetchIn, stopWorkers, test } from '../support/chromium.ts';
import { distFolder } from '../support/paths.ts';
import { noise, publish } from '../support/publish.ts';
import { StaticHost } from '../support/static-host.ts';

/** Removes the draft “Modern Algorithms in WebCrypto” from a browser. */
const withoutNativeCipher = `
  const importKey = crypto.subtle.importKey;
  crypto.subtle.importKey = function (...parameters) {
    if (parameters[2] === 'ChaCha20-Poly1305') return Promise.reject(new DOMException('', 'NotSupportedError'));
    return importKey.apply(this, parameters);
  };
`;

/** And what one without SIMD in WebAssembly does: the kernel is the only module that is given as bytes. */
const withoutSimd = `
  const instantiate = WebAssembly.instantiate;
  WebAssembly.instantiate = function (...parameters) {
    if (ArrayBuffer.isView(parameters[0])) return Promise.reject(new WebAssembly.CompileError());
    return instantiate.apply(this, parameters);
  };
`;

const isSodiumName = /\/libsodium-.*\.wasm$/;
const isSodium = (path: string) => isSodiumName.test(path);

for (const { browser, prelude, isWanted } of [
  { browser: 'a browser that has all', prelude: '', isWanted: false },
  { browser: 'a browser that lacks the cipher', prelude: withoutNativeCipher, isWanted: false },
  { browser: 'a browser that lacks SIMD', prelude: withoutSimd, isWanted: false },
  {
    browser: 'a browser that lacks both',
    prelude: withoutNativeCipher + withoutSimd,
    isWanted: true,
  },
]) {
  test(`libsodium is ${isWanted ? '' : 'not '}fetched and cached in ${browser}`, {
    tag: prelude === '' ? [] : '@full',
  }, async ({ page, startPeer }) => {
    const peer = await startPeer();
    const [first, second] = [noise(1, 5_000), noise(2, 5_000)];
    const addresses = [await publish(first, peer), await publish(second, peer)];
    const host = await StaticHost.start({
      folders: [distFolder],
      files: {
        '/antway.json': JSON.stringify({ peers: [peer.url] }),
        '/sw.js': (script) => prelude + script,
      },
    });
    try {
      await page.goto(host.url);
      await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
      // Fetched when the worker was installed, so that it is there offline.
      expect(host.requests.some(isSodium)).toBe(isWanted);
      expect((await fetchIn(page, `/${addresses[0]}`)).status).toBe(200);

      await stopWorkers(page);
      const before = host.requests.filter(isSodium).length;
      const answer = await fetchIn(page, `/${addresses[1]}`);
      expect([answer.status, answer.size]).toEqual([200, second.length]);
      expect(host.requests.filter(isSodium)).toHaveLength(before);
    } finally {
      await host.stop();
    }
  });
}

test('each worker of an origin caches its own files, and uses none of another’s', {
  tag: '@smoke',
}, async ({ page }) => {
  const host = await StaticHost.start({
    folders: [distFolder],
    files: {
      '/antway.json': JSON.stringify({ peers: ['http://127.0.0.1:9'] }),
      '/sw.js': (script) => withoutNativeCipher + withoutSimd + script,
    },
  });
  /** The cached files without the shell's, by the name of the cache. */
  const kept = () =>
    page.evaluate(async () => {
      const files: Record<string, string[]> = {};
      for (const name of (await caches.keys()).filter((name) => !name.startsWith('antway-shell-'))) {
        const requests = await (await caches.open(name)).keys();
        files[name] = requests.map(({ url }) => new URL(url).pathname).sort();
      }
      return files;
    });
  try {
    // As an earlier build left it.
    await page.goto(`${host.url}/icon.svg`);
    const own = `antway-files-${host.url}/`;
    await page.evaluate(async (own) => {
      await (await caches.open(own)).put('/assets/libsodium-former.wasm', new Response('a file'));
    }, own);
    await page.goto(host.url);
    await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    await expect.poll(kept).toEqual({ [own]: [expect.stringMatching(isSodiumName)] });

    const register = (scope: string) =>
      page.evaluate(async (scope) => {
        const { installing, active } = await navigator.serviceWorker.register('/sw.js', { scope });
        const worker = (installing ?? active)!;
        while (worker.state !== 'activated') {
          await new Promise((resolve) => worker.addEventListener('statechange', resolve, { once: true }));
        }
      }, scope);
    await register('/other/');
    const other = `antway-files-${host.url}/other/`;
    const [sodium] = (await kept())[own]!;
    await expect.poll(kept).toEqual({ [own]: [sodium], [other]: [sodium] });
  } finally {
    await host.stop();
  }
});
