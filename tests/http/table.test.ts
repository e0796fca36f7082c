import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, expect, test } from '@playwright/test';
import { Gateway } from '../support/chromium.ts';
import { distFolder } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import type { Case } from './case.ts';
import { cases } from './cases.ts';
import { documentPath, ownDocument } from './document.ts';
import { type Exchange, type Result, runCases } from './exchange.ts';
import { type Fixtures, pointerRecord, publishFixtures } from './fixtures.ts';
import { inBrowser } from './in-browser.ts';

// One browser receives all cases; each is then a test of its own.
test.describe.configure({ mode: 'default' });

/**
 * Cases whose answers the browser changes, or treats in its own way. `tests/unit/http-cases.test.ts` sends all cases to the
 * gateway in Node.
 */
function concernsBrowser({ request, expected }: Case): boolean {
  const isNavigation = request.as === 'document';
  const isStream = expected.headers?.['Content-Length'] === null;
  return isNavigation || isStream || request.method === 'HEAD' || 'Range' in request.headers;
}

let folder: string;
let peers: PeerProcess[] = [];
let browser: Browser;
let fixtures: Fixtures;
let exchange: Exchange;
const results = new Map<Case, Result>();

async function send(cases: readonly Case[]): Promise<void> {
  for (const result of await runCases(cases, fixtures, exchange)) results.set(result.case, result);
}

function declareTests(cases: readonly Case[]): void {
  for (const each of cases) {
    test(`${each.group}: ${each.name}`, () => {
      expect(results.get(each)!.differences).toEqual([]);
    });
  }
}

test.beforeAll(async ({ playwright, launchOptions }) => {
  test.setTimeout(180_000);
  folder = mkdtempSync(join(tmpdir(), 'antway-http-'));
  const config = join(folder, 'antway.json');
  const peer = await PeerProcess.start();
  peers = [peer];
  fixtures = await publishFixtures(peer);
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
  peers.push(host);
  browser = await playwright.chromium.launch(launchOptions);
  const context = await browser.newContext();
  const { shell } = await Gateway.open(host, await context.newPage());
  // A user has been to the site before, and opened it without scripts.
  await shell.evaluate(
    (address) =>
      fetch('/-/trust', { method: 'POST', body: JSON.stringify({ address, decision: 'restricted' }) }),
    fixtures.site,
  );
  exchange = inBrowser(shell, await context.newPage(), host.url);
  await send(cases.filter(concernsBrowser));
});

test.afterAll(async () => {
  await browser?.close();
  await Promise.all(peers.map((peer) => peer.stop()));
  rmSync(folder, { recursive: true });
});

declareTests(cases.filter(concernsBrowser));

test.describe('all other cases', { tag: '@full' }, () => {
  const others = cases.filter((each) => !concernsBrowser(each));

  test.beforeAll(() => send(others));

  declareTests(others);

  test('docs/reference/http-cases.md matches this run', () => {
    const text = ownDocument(cases.map((each) => results.get(each)!));
    expect(readFileSync(documentPath, 'utf8')).toBe(text);
  });
});
