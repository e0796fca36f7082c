import { expect, fetchIn, stopWorkers, test } from './harness.ts';
import { distFolder } from './paths.ts';
import { noise, publish } from './publish.ts';
import { StaticHost } from './static-host.ts';

/** What a browser without the draft “Modern Algorithms in WebCrypto” does. */
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

const isSodium = (path: string) => /\/libsodium-.*\.wasm$/.test(path);

for (const { browser, prelude, isWanted } of [
  { browser: 'a browser that has all', prelude: '', isWanted: false },
  { browser: 'a browser that lacks the cipher', prelude: withoutNativeCipher, isWanted: false },
  { browser: 'a browser that lacks SIMD', prelude: withoutSimd, isWanted: false },
  { browser: 'a browser that lacks both', prelude: withoutNativeCipher + withoutSimd, isWanted: true },
]) {
  test(`libsodium is ${isWanted ? '' : 'not '}fetched and kept in ${browser}`, async ({
    page,
    startPeer,
  }) => {
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
