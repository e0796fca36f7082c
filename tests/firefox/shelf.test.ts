import { afterAll, beforeAll, expect } from 'vitest';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { listFolder } from '../../src/cli/folder.ts';
import { fromRoot } from '../support/paths.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { type Page, test } from './harness.ts';

let library: PeerProcess;
let sample: { title: string; address: string; icon: string; cover: string };

beforeAll(async () => {
  library = await PeerProcess.start();
  const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
  const address = await publish(createTarchive(entries), library);
  sample = { title: 'Low Tide', address, icon: 'assets/img/limpet.svg', cover: 'assets/img/shore.svg' };
});
afterAll(() => library?.stop());

/** Waits until an image has been decoded. */
async function waitForPicture(page: Page, selector: string): Promise<void> {
  await page.waitForFunction(
    (selector) => (document.querySelector<HTMLImageElement>(selector)?.naturalWidth ?? 0) > 0,
    {},
    selector,
  );
}

/** Waits until the viewer's bar has a title that begins with this text. */
async function waitForViewer(page: Page, title: string): Promise<void> {
  await page.waitForFunction(
    (text) => document.querySelector('.site-bar h1')?.textContent?.startsWith(text),
    {},
    title,
  );
}

test('one click leads from a first visit to the sample site', { tags: 'full' }, async ({
  browser,
  startHost,
}) => {
  const host = await startHost({ peers: [library.url], sample });
  const page = await browser.newPage();
  await page.goto(host.url);
  await page.waitForSelector('.sample-card');
  await waitForPicture(page, '.sample-card img');

  await page.click('.sample-card');
  await waitForViewer(page, 'Low Tide');
});

test('the keyboard finds a site, a file of it and an action', { tags: 'full' }, async ({
  browser,
  startHost,
}) => {
  const host = await startHost({ peers: [library.url], sample });
  const page = await browser.newPage();
  await page.goto(host.url);
  await page.waitForSelector('.sample-card');
  const titles = () =>
    page.$$eval('.suggestion-title', (found) => found.map(({ textContent }) => textContent));
  const find = async (text: string) => {
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.waitForSelector('[role=option]');
    return titles();
  };
  expect(await find('low tide')).toEqual(['Low Tide']);
  await page.keyboard.press('Enter');
  await waitForViewer(page, 'Low Tide');

  await page.goto(host.url);
  await page.waitForSelector('#recent-heading ~ .covers a');
  await page.keyboard.down('Control');
  await page.keyboard.press('k');
  await page.keyboard.up('Control');
  await page.keyboard.type('limpet.html');
  await page.waitForSelector('.suggestion-file');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    (hash) => location.hash === hash,
    {},
    `#view=${sample.address}/species/limpet.html`,
  );

  await page.goto(host.url);
  await page.waitForSelector('#recent-heading ~ .covers a');
  expect((await find('settings'))[0]).toBe('Change settings');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash === '#settings');
});

test('the input shows all digits of an address, and opens addresses, links and names', {
  tags: 'full',
}, async ({ browser, startHost }) => {
  const host = await startHost({ peers: [library.url], sample, names: { tide: sample.address } });
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 860 });
  const kinds = () => page.$$eval('.suggestion-kind', (found) => found.map(({ textContent }) => textContent));
  const ways = [
    { text: sample.address, kind: 'Address', opens: sample.address },
    { text: `ant://${sample.address.toUpperCase()}/species/limpet.html`, kind: 'Address' },
    { text: 'tide/species/limpet.html', kind: 'Name' },
  ];
  for (const { text, kind, opens } of ways) {
    await page.goto(host.url);
    await page.waitForSelector('.covers a, .sample-card');
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.waitForSelector('[role=option]');
    expect((await kinds())[0], text).toBe(kind);
    if (opens) {
      expect(await page.$eval('#address', (input) => input.scrollWidth <= input.clientWidth)).toBe(true);
    }
    await page.keyboard.press('Enter');
    await waitForViewer(page, opens ? 'Low Tide' : 'Common limpet');
  }
});
