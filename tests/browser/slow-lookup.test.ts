import type { Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, openShellIn, openWithoutScripts, test } from '../support/chromium.ts';
import { LookingPeer } from '../support/looking-peer.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';

let peer: PeerProcess;
let looking: LookingPeer;

test.beforeEach(async ({ startPeer }) => {
  peer = await startPeer();
  looking = await LookingPeer.start(peer);
});

test.afterEach(() => looking.stop());

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const isWaiting = (page: Page) => expect(heading(page, 'Looking for this content')).toBeVisible();

test('a slow navigation shows what it waits for, and opens the content by itself', { tag: '@full' }, async ({
  openGateway,
}) => {
  const address = await publish(Buffer.from('Dear reader'), peer);
  const { shell: page, url } = await openGateway({ peers: [looking.url] });
  const entries = await page.evaluate(() => history.length);
  const response = await page.goto(`${url}/${address}#part`);
  expect(response!.status()).toBe(503);
  await isWaiting(page);
  await expect(page.getByRole('listitem')).toHaveText(
    `${looking.url}: connected to the network “devnet” through 12 nodes`,
  );
  await expectAccessible(page);
  await expect(page.locator('#seconds')).not.toHaveText('1');
  looking.find();
  await openWithoutScripts(page);
  await expect(page.getByText('Dear reader')).toBeVisible();
  expect(page.url()).toBe(`${url}/${address}#part`);
  expect(await page.evaluate(() => history.length)).toBe(entries + 1);
});

test('a slow navigation that the user cancels leads to the shell, and the lookups end', {
  tag: '@full',
}, async ({ openGateway }) => {
  const address = await publish(Buffer.from('Dear reader'), peer);
  const { shell: page, url } = await openGateway({ peers: [looking.url] });
  await page.goto(`${url}/${address}`);
  await isWaiting(page);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.waitForURL(`${url}/`);
  // The work for the last request of the page continues for 8 s.
  await expect
    .poll(
      async () => {
        const before = looking.busyAnswers;
        await page.waitForTimeout(5_000);
        return looking.busyAnswers - before;
      },
      { timeout: 45_000 },
    )
    .toBe(0);
});

test('a slow navigation ends with the error page if no peer has the content', { tag: '@full' }, async ({
  openGateway,
}) => {
  const { shell: page, url } = await openGateway({ peers: [looking.url] });
  await page.goto(`${url}/${'ab'.repeat(32)}`);
  await isWaiting(page);
  looking.find();
  await expect(heading(page, 'Not found')).toBeVisible();
  await expect(page.getByText('A peer searched the network too.')).toBeVisible();
});

test('a slow navigation on the origin of a site opens by itself too', { tag: '@full' }, async ({
  startHost,
  context,
}) => {
  const page = (title: string) => `<!doctype html><title>${title}</title><script></script>`;
  const files = {
    'index.html': page('Home'),
    'first.bin': noise(1, 100_000),
    // In the second of three chunks. The first and the last are loaded with the site.
    'far.html': page('Far'),
    'second.bin': noise(2, 100_000),
  };
  const address = await publish(await makeTarchive(files), peer);
  const host = await startHost({ peers: [looking.url] });
  const root = `http://antway.localhost:${new URL(host.url).port}`;
  const origin = root.replace('//', `//${Address.fromHex(address).base32}.`);
  const shell = await openShellIn(context, root);
  await shell.goto(`${root}/${address}/`);
  await isWaiting(shell);
  looking.find();
  await expect(shell).toHaveTitle('Home');
  expect(shell.url()).toBe(`${origin}/`);
  looking.lookAgain();
  await shell.goto(`${origin}/far.html`);
  await isWaiting(shell);
  await expect(shell.getByRole('link', { name: 'Cancel' })).toHaveAttribute('href', `${root}/`);
  looking.find();
  await expect(shell).toHaveTitle('Far');
});
