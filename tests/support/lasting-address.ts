import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from '@playwright/test';
import { expect, openShellIn } from './chromium.ts';
import { openFreshPage } from './fresh-shell.ts';
import { distFolder } from './paths.ts';
import type { PeerProcess } from './peer-process.ts';
import type { Processes } from './processes.ts';
import { shellStored } from './shell-stored.ts';

export const passphrase = 'seven green bottles';

/** Starts a peer that hosts a gateway and stores what it publishes, and has names for the origins of sites. */
export async function startPublisher(
  startPeer: Processes['startPeer'],
  folder: string,
): Promise<{ peer: PeerProcess; root: string }> {
  const configFile = join(folder, 'antway.json');
  writeFileSync(configFile, JSON.stringify({ peers: ['/'] }));
  const flags = ['--web', distFolder, '--web-config', configFile];
  const peer = await startPeer({ flags, webTransport: 'none' });
  return { peer, root: `http://antway.localhost:${new URL(peer.url).port}` };
}

export const section = (page: Page) => page.getByRole('region', { name: 'Lasting addresses' });
export const row = (page: Page, name: string) =>
  section(page).getByRole('listitem').filter({ hasText: name });

export async function openPublish(context: BrowserContext, root: string): Promise<Page> {
  const page = await openShellIn(context, `${root}/#publish`);
  await shellStored(page);
  await expect(section(page)).toBeVisible();
  return page;
}

/** As `openPublish`, in the profile of a file's scene. Parameter as of `openFreshPage`. */
export async function openFreshPublish(empty: Page): Promise<Page> {
  const page = await openFreshPage(empty, '#publish');
  await shellStored(page);
  await expect(section(page)).toBeVisible();
  return page;
}

/** Publishes a page with this title, as a file of its own name. */
export async function publishPage(page: Page, title: string): Promise<void> {
  await choosePage(page, title);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Published', exact: true })).toBeVisible();
}

/** Chooses a page with this title to be published, as a file of its own name. */
export async function choosePage(page: Page, title: string): Promise<void> {
  const again = page.getByRole('button', { name: 'Publish something else' });
  if (await again.isVisible()) await again.click();
  const buffer = Buffer.from(`<!doctype html><title>${title}</title><h1>${title}</h1>`);
  await page
    .locator('input[name=files]')
    .setInputFiles({ name: `${title}.html`, mimeType: 'text/html', buffer });
}

/** A new lasting address is unlocked with the passphrase, or with a passkey of the page's authenticator. */
type Lock = 'passphrase' | 'passkey';

/** @returns the 24 words. */
export async function createPointer(page: Page, name: string, lock?: Lock): Promise<string[]> {
  await section(page).getByRole('button', { name: 'New lasting address' }).click();
  return fillPointerForm(page, name, lock);
}

/** Fills in and sends the open form for a new lasting address. @returns the 24 words. */
export async function fillPointerForm(
  page: Page,
  name: string,
  lock: Lock = 'passphrase',
): Promise<string[]> {
  const form = section(page).getByRole('form');
  await form.getByLabel('Your name for it').fill(name);
  if (lock === 'passkey') await form.getByLabel('a passkey').check();
  else await fillNewPassphrase(form);
  await form.getByRole('button', { name: 'Continue' }).click();
  return confirmWords(page, name);
}

export async function fillNewPassphrase(form: Locator): Promise<void> {
  await form.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await form.getByLabel('Repeat the passphrase').fill(passphrase);
}

/** Types two of the words, and creates the address. @returns the 24 words. */
export async function confirmWords(page: Page, name: string): Promise<string[]> {
  const words = await sendWords(page);
  await expect(section(page)).toContainText(`${name} is ready.`);
  return words;
}

/** Types two of the words, and sends the form. @returns the 24 words. */
export async function sendWords(page: Page): Promise<string[]> {
  const form = section(page).getByRole('form');
  await expect(form.getByRole('listitem')).toHaveCount(24);
  const words = await form.getByRole('list').getByRole('listitem').allTextContents();
  for (const field of await form.getByRole('textbox').all()) {
    const [, number] = /(\d+)/.exec((await field.locator('..').textContent())!)!;
    await field.fill(words[Number(number) - 1]!);
  }
  await form.getByRole('button', { name: 'Create' }).click();
  return words;
}

/** The button of an action in the row of a lasting address. */
export const action = (page: Page, what: string, name: string) =>
  row(page, name).getByRole('button', { name: what });

export async function addressOf(page: Page, name: string): Promise<string> {
  return (await row(page, name).locator('.published-address').textContent())!.trim();
}

/** The contents of all files of a browser profile. */
export function filesIn(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => readFileSync(path));
}

export function contains(files: readonly Buffer[], bytes: Buffer): boolean {
  return files.some((file) => file.includes(bytes));
}
