import { beforeAll, expect } from 'vitest';
import { Address } from '../../src/address.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { test } from './harness.ts';

let library: PeerProcess;
let address: string;

beforeAll(async () => {
  library = await PeerProcess.start();
  const files = {
    'index.html': '<!doctype html><html lang="eo"><head><title>Own</title></head><body>a</body></html>',
    'own.js': 'self.addEventListener("fetch", (event) => event.respondWith(new Response("taken over")))',
  };
  address = await publish(await makeTarchive(files), library);
  return () => library.stop();
});

test('a site on its own origin sees no worker, and cannot register one', async ({ browser, startHost }) => {
  const host = await startHost({ peers: [library.url], isolation: 'subdomain' });
  const { port } = new URL(host.url);
  const page = await browser.newPage();
  await page.goto(`http://${Address.fromHex(address).base32}.antway.localhost:${port}/`);
  await page.waitForFunction(() => document.title === 'Own');
  const seen = await page.evaluate(async () => {
    const { serviceWorker } = navigator;
    return {
      controller: serviceWorker.controller,
      registrations: (await serviceWorker.getRegistrations()).length,
      registered: await serviceWorker.register('/own.js').then(
        () => 'registered',
        (error: Error) => error.name,
      ),
      language: document.documentElement.lang,
      mode: document.compatMode,
      missing: await (await fetch('/missing.json')).text(),
    };
  });
  expect(seen).toMatchObject({
    controller: null,
    registrations: 0,
    registered: 'NotSupportedError',
    language: 'eo',
    mode: 'CSS1Compat',
    missing: expect.stringMatching(/^NOT_FOUND: /),
  });
  await page.close();
});
