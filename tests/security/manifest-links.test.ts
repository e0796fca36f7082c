import type { Page } from '@playwright/test';
import { expect, type Gateway, openShellIn, sceneOfFile, test } from '../support/chromium.ts';
import { linkOf, makePrivateManifest } from '../support/manifests.ts';
import { untilViewed } from '../support/viewer.ts';
import { attack } from './attack.ts';

const group = 'Links with a manifest';

const scene = sceneOfFile(async ({ startPeer, openGateway }) => {
  const peer = await startPeer();
  return { peer, gateway: await openGateway({ peers: [peer.url] }) };
});

let gateway: Gateway;
/** A link that the gateway does not know. */
let link: string;
let links = 0;

test.beforeEach(async () => {
  const { peer } = scene();
  ({ gateway } = scene());
  const files = { 'a.txt': 'Fog again.', 'b.txt': `Rain ${++links}.` };
  link = linkOf(await makePrivateManifest('Diary', files, peer));
});

const fragment = () => `#manifest/${link.slice('ant://manifest/'.length)}`;
const stored = async () => JSON.parse((await gateway.fetch('/-/manifests')).text) as unknown[];
const question = (page: Page) => page.getByRole('alertdialog');

/** A page of another site goes to a URL of the gateway. */
async function lead(url: string): Promise<Page> {
  const page = await gateway.shell.context().newPage();
  await page.goto('about:blank');
  await page.evaluate((url) => location.assign(url), url);
  await expect(question(page)).toContainText('Open a private site from this link?');
  await expect(question(page)).toContainText('“Diary” and has 2 files');
  return page;
}

const leads = [
  ['leads to `/#manifest/…`', () => `/${fragment()}`],
  [
    'leads to `/#open=ant://manifest/…`, as the protocol handler does',
    () => `/#open=${encodeURIComponent(link)}`,
  ],
  ['leads to `/#url=…`, as the share target does', () => `/#url=${encodeURIComponent(link)}`],
] as const;

for (const [what, url] of leads) {
  attack(
    group,
    `a page of another site ${what}`,
    'the shell shows the manifest’s content and asks; it stores nothing before',
    async () => {
      const page = await lead(gateway.url + url());
      await expect(page.getByRole('button', { name: 'Not now' })).toBeFocused();
      expect(await stored()).toEqual([]);
      await page.keyboard.press('Enter');
      await expect(question(page)).toHaveCount(0);
      expect(page.url()).toBe(`${gateway.url}/`);
      await page.reload();
      await expect(page.getByRole('heading', { name: 'Explore the Autonomi network' })).toBeVisible();
      await expect(question(page)).toHaveCount(0);
      expect(await stored()).toEqual([]);
    },
    what.includes('#open') ? {} : { tag: '@full' },
  );
}

attack(
  group,
  'a form of another site shares a manifest with the installed app',
  'the shell asks, as for a link',
  async () => {
    const page = await gateway.shell.context().newPage();
    await page.evaluate(
      ([action, value]) => {
        const form = Object.assign(document.createElement('form'), { method: 'post', action });
        form.append(Object.assign(document.createElement('input'), { name: 'url', value }));
        document.body.append(form);
        HTMLFormElement.prototype.submit.call(form);
      },
      [`${gateway.url}/-/share`, link] as const,
    );
    await expect(question(page)).toContainText('“Diary” and has 2 files');
    expect(await stored()).toEqual([]);
  },
);

test('a user confirms a link with a manifest once, and opens a stored manifest without a question', async () => {
  const page = await lead(`${gateway.url}/${fragment()}/a.txt`);
  await page.getByRole('button', { name: 'Open it' }).click();
  const content = await untilViewed(page, /^\/[0-9a-f]{64}\/a\.txt$/);
  await expect(content.getByText('Fog again.')).toBeVisible();
  expect(await stored()).toMatchObject([{ name: 'Diary', entries: 2 }]);

  const shell = await openShellIn(page.context(), gateway.url);
  await shell.evaluate((url) => location.assign(url), `${gateway.url}/${fragment()}/b.txt`);
  await untilViewed(shell, /^\/[0-9a-f]{64}\/b\.txt$/);
});

test('a link that the user enters in the shell opens without a question', { tag: '@full' }, async () => {
  const shell = await openShellIn(gateway.shell.context(), gateway.url);
  await shell.getByRole('combobox', { name: 'Search or open an address' }).fill(link);
  await shell.getByRole('button', { name: 'Open', exact: true }).click();
  await untilViewed(shell, /^\/[0-9a-f]{64}\/$/);
});
