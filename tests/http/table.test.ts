import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { Gateway } from '../support/chromium.ts';
import { distFolder, fromRoot } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { cases } from './cases.ts';
import { renderDocument } from './document.ts';
import { type Result, runCases } from './exchange.ts';
import { pointerRecord, publishFixtures } from './fixtures.ts';
import { inBrowser } from './in-browser.ts';
import { introduction } from './introduction.ts';

const documentPath = fromRoot('docs/reference/http-cases.md');

// All cases are asked by one browser, once; each is then a test of its own.
test.describe.configure({ mode: 'default' });

let results: Result[] = [];

test.beforeAll(async ({ playwright, launchOptions }) => {
  test.setTimeout(180_000);
  const folder = mkdtempSync(join(tmpdir(), 'antway-http-'));
  const config = join(folder, 'antway.json');
  const peer = await PeerProcess.start();
  const fixtures = await publishFixtures(peer);
  peer.putPointer(fixtures.pointer, pointerRecord(fixtures));
  writeFileSync(
    config,
    JSON.stringify({
      peers: [peer.url],
      names: { 'docs.site': fixtures.site, bare: fixtures.bare, letters: fixtures.file },
      trusted: [fixtures.trusted, fixtures.linked],
      denied: [fixtures.denied],
    }),
  );
  const host = await PeerProcess.start({
    flags: ['--web', distFolder, '--web-config', config],
    webTransport: 'none',
  });
  const browser = await playwright.chromium.launch(launchOptions);
  const context = await browser.newContext();
  const { shell } = await Gateway.open(host, await context.newPage());
  // A user has been to the site before, and opened it without scripts.
  await shell.evaluate(
    (address) =>
      fetch('/-/trust', { method: 'POST', body: JSON.stringify({ address, decision: 'restricted' }) }),
    fixtures.site,
  );
  results = await runCases(cases, fixtures, inBrowser(shell, await context.newPage(), host.url));
  await browser.close();
  await Promise.all([peer.stop(), host.stop()]);
  rmSync(folder, { recursive: true });
});

for (const [i, { group, name }] of cases.entries()) {
  test(`${group}: ${name}`, () => {
    expect(results[i]!.differences).toEqual([]);
  });
}

test('docs/reference/http-cases.md matches this run (UPDATE_DOCS=1 writes it)', () => {
  const text = renderDocument(introduction, cases, [{ title: 'Antway', results }]);
  if (process.env.UPDATE_DOCS) writeFileSync(documentPath, text);
  expect(readFileSync(documentPath, 'utf8')).toBe(text);
});
