import { expect } from 'vitest';
import { LoopbackServer } from '../support/loopback-server.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tar.ts';
import { decide, type Page, test } from './harness.ts';

const textOf = (page: Page, selector: string) =>
  page.evaluate((selector) => document.querySelector(selector)?.textContent ?? '', selector);
const waitForText = (page: Page, selector: string, text: string) =>
  page.waitForFunction(
    (selector, text) => document.querySelector(selector)?.textContent?.includes(text),
    {},
    selector,
    text,
  );

test('the header shows a dead peer, explains it, and shows that it is back', { tags: 'full' }, async ({
  openGateway,
  startPeer,
}) => {
  const peer = await startPeer({ webTransport: 'none' });
  const { shell } = await openGateway(peer);
  await waitForText(shell, '.status-button', 'Local only');
  await shell.click('.status-button');
  await waitForText(shell, '#connection', 'answers with what it stores');
  await peer.kill();
  await (await shell.waitForSelector('::-p-aria([name="Check again"][role="button"])'))!.click();
  await waitForText(shell, '#connection', 'does not answer');
  await waitForText(shell, '.status-button', 'No peer answers');
  await waitForText(shell, 'header [role=status]', 'No peer answers');
  await startPeer({ webTransport: 'none', http: new URL(peer.url).host });
  await (await shell.waitForSelector('::-p-aria([name="Check again"][role="button"])'))!.click();
  await waitForText(shell, '.status-button', 'Local only');
});

test('an unknown address leads to a peer, and the peer is added after a click', { tags: 'full' }, async ({
  openGateway,
  startPeer,
}) => {
  const gateway = await openGateway(await startPeer({ webTransport: 'none' }));
  const other = await startPeer({ webTransport: 'none' });
  const { page, response } = await gateway.openPage(`/${'ab'.repeat(32)}`);
  expect(response.status()).toBe(404);
  expect(await page.evaluate(() => document.querySelector('details')!.open)).toBe(false);
  expect(await textOf(page, '.steps')).toContain('npm start -- --network');
  const link = await page.waitForSelector('a.primary');
  await Promise.all([page.waitForNavigation(), link!.click()]);
  await page.waitForFunction(() => document.activeElement?.id === 'add-peer');
  await page.type('#add-peer', new URL(other.url).host);
  await page.keyboard.press('Enter');
  await waitForText(page, '.peers .setting-list', other.url);
});

test('a missing file leads to the files and the start page of its site', { tags: 'full' }, async ({
  openGateway,
  startPeer,
  folder,
}) => {
  const peer = await startPeer({ webTransport: 'none' });
  const files = { 'index.html': '<h1>The start</h1>', 'texts/a letter.txt': 'a letter' };
  const site = await publish(makeTarchive(folder, files), peer);
  const gateway = await openGateway(peer);
  await decide((await gateway.openPage(`/${site}/`)).page, 'Open without scripts');
  const { page, response } = await gateway.openPage(`/${site}/texts/no%20letter.txt`);
  expect(response.status()).toBe(404);
  expect(await textOf(page, 'body')).toContain('This site has no file “texts/no letter.txt”.');
  await page.click('summary ::-p-text(Files in texts/)');
  const letter = await page.waitForSelector('a ::-p-text(a letter.txt)', { visible: true });
  await letter!.click();
  await page.waitForFunction(() => document.body.textContent === 'a letter');

  await page.goto(`${gateway.url}/${site}/texts/no%20letter.txt`);
  const start = await page.waitForSelector('::-p-aria([name="Start page of this site"][role="link"])');
  await start!.click();
  await waitForText(page, 'h1', 'The start');
});

test('a link that suggests a peer asks no server before a click', { tags: 'full' }, async ({
  openGateway,
}) => {
  const asked: string[] = [];
  await using server = await LoopbackServer.start(({ url = '' }, response) => {
    asked.push(url);
    response.end();
  });
  const gateway = await openGateway();
  const { page } = await gateway.openPage(`/#peer=${encodeURIComponent(server.url)}`);
  await page.waitForFunction(() => document.activeElement?.id === 'add-peer');
  await waitForText(page, '#add-peer-note', 'A link filled in this field.');
  expect(await page.$eval('#add-peer', (field) => (field as HTMLInputElement).value)).toBe(server.url);
  expect(asked).toEqual([]);
  // An answer that the page may not read (CORS).
  await page.keyboard.press('Enter');
  await waitForText(page, '#add-peer-problem', 'does not allow this page to read its answers');
});
