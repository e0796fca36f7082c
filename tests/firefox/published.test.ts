import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { expect } from 'vitest';
import { type Page, test } from './harness.ts';

const token = 'open sesame';

async function click(page: Page, name: string): Promise<void> {
  const button = await page.waitForSelector(`::-p-aria([name="${name}"][role="button"])`);
  await button!.click();
}

async function publishFile(page: Page, path: string, isPrivate: boolean): Promise<void> {
  const input = (await page.$('input[name=files]')) as ElementHandle<HTMLInputElement>;
  await input.uploadFile(path);
  await page.waitForSelector('#token');
  // The form keeps the token until the page is loaded again.
  if ((await page.$eval('#token', (field) => (field as HTMLInputElement).value)) === '') {
    await page.type('#token', token);
  }
  await (await page.$$('input[name=who]'))[isPrivate ? 1 : 0]!.click();
  await click(page, 'Publish');
  await page.waitForSelector('.card.published');
}

const shownRows = (page: Page) =>
  page.$$eval('.published-row', (rows) => rows.map(({ textContent }) => textContent ?? ''));

test('publications are listed after a reload, checked, linked to newer versions, and removed', {
  tags: 'full',
}, async ({ startPeer, openGateway, folder }) => {
  const peer = await startPeer({ token });
  const gateway = await openGateway(peer);
  const { shell } = gateway;
  await shell.goto(`${gateway.url}/#publish`);
  const letter = join(folder, 'letter.txt');
  writeFileSync(letter, 'Dear reader');
  await publishFile(shell, letter, false);
  await click(shell, 'Publish something else');
  const diary = join(folder, 'diary.txt');
  writeFileSync(diary, 'Fog again.');
  await publishFile(shell, diary, true);
  await shell.reload();
  await shell.waitForSelector('.published-row:nth-child(2)');
  expect(await shownRows(shell)).toEqual([
    expect.stringMatching(/diary\.txt.*Private/),
    expect.stringContaining(`Stored at ${new URL(peer.url).host}`),
  ]);

  const { host } = new URL(peer.url);
  await click(shell, 'Check availability: letter.txt');
  await shell.waitForFunction(
    (text) => document.querySelector('.published-row:nth-child(2)')?.textContent?.includes(text),
    {},
    `Complete at ${host}: 4 chunks.`,
  );

  await click(shell, 'Update…: letter.txt');
  writeFileSync(letter, 'Dear reader, again');
  await publishFile(shell, letter, false);
  await shell.waitForSelector('.published-row:nth-child(3)');
  expect((await shownRows(shell))[0]).toContain('Newer version of the publication of');

  await click(shell, 'Remove from the list: diary.txt');
  await click(shell, 'Remove from the list');
  await shell.waitForFunction(() => document.querySelectorAll('.published-row').length === 2);
  await shell.reload();
  await shell.waitForSelector('.published-row');
  expect((await shownRows(shell)).join()).not.toContain('diary.txt');
});
