import type { BrowserContext, Page } from '@playwright/test';
import { expectAccessible } from '../../support/accessibility.ts';
import {
  expect,
  hardReload,
  openShellIn,
  openWorkerIn,
  sceneOfFile,
  stopWorkers,
  test,
} from '../../support/chromium.ts';
import { openFreshPage } from '../../support/fresh-shell.ts';
import { publish } from '../../support/publish.ts';
import { shellStored } from '../../support/shell-stored.ts';
import { type SiteOnOwnOrigin, startSiteOnOwnOrigin } from '../../support/site-on-own-origin.ts';
import { makeTarchive } from '../../support/tarchive.ts';
import { hurryPolls, setHidden, untilViewed, viewed } from '../../support/viewer.ts';
import { makePdf } from '../../third-party/pdf.ts';

const files = {
  'index.html':
    '<!doctype html><title>Low Tide</title><p id="ran">still</p><script>document.querySelector("#ran").textContent = "running"</script><a href="docs/second.html">Second</a> <a href="https://outside.example/page">Outside</a>',
  'docs/second.html':
    '<!doctype html><title>Second &amp; last</title><p>The second page</p><img src="missing.png">',
  'app/index.html': `<!doctype html><title>App</title><p id="heard">nothing</p>
<button onclick="history.pushState(1, '', '/app/two?q=1'); document.title = 'Step two'">Two</button>
<button onclick="history.replaceState(1, '', '/app/three'); document.title = 'Step three'">Three</button>
<a href="#part">Part</a>
<script>addEventListener('message', ({ data }) => { document.querySelector('#heard').textContent = JSON.stringify(data) })</script>`,
  'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
};

let site: SiteOnOwnOrigin;
let context: BrowserContext;
let shell: Page;

const bar = () => shell.locator('.site-bar');
const heading = () => shell.getByRole('heading', { level: 1 });
const state = () => shell.locator('.site-state');

async function openSite(path = ''): Promise<void> {
  await shell.getByRole('combobox', { name: 'Search or open an address' }).fill(site.address + path);
  await shell.keyboard.press('Enter');
}

const scene = sceneOfFile(async ({ startPeer, startHost, context }) => {
  const site = await startSiteOnOwnOrigin({ startPeer, startHost }, files);
  return { site, context, empty: await openWorkerIn(context, site.root) };
});

test.beforeEach(async () => {
  ({ site, context } = scene());
  shell = await openFreshPage(scene().empty);
});

/** Loads the app again, before a test that waits for its polls. */
async function reloadHurried(): Promise<void> {
  await hurryPolls(shell);
  await shell.reload();
}

/** Resolves when the viewer has made two more polls, each with one or two questions to the gateway's origin. */
async function untilPolledTwice(): Promise<void> {
  for (let questions = 0; questions < 6; questions++)
    await shell.waitForRequest((request) => request.url().startsWith(`${site.root}/-/view?`));
}

test('a site opens from the app below a bar, with its scripts on its own origin', {
  tag: '@full',
}, async () => {
  await openSite();
  const content = await untilViewed(shell, `/${site.address}/`);
  await expect(content.locator('#ran')).toHaveText('running');
  await expect(heading()).toHaveText('Low Tide');
  await expect(shell).toHaveTitle('Low Tide · Antway');
  await expect(state()).toHaveText('Verified');
  expect(shell.frames().map((frame) => frame.url())).toContain(`${site.origin}/`);

  await content.getByRole('link', { name: 'Second' }).click();
  await expect(content.getByText('The second page')).toBeVisible();
  await expect(heading()).toHaveText('Second & last');
  await expect.poll(() => new URL(shell.url()).hash).toBe(`#view=${site.address}/docs/second.html`);
  // A picture is missing. The bytes that are there were verified.
  await expect(state()).toHaveText('Incomplete');

  await shell.reload();
  await expect(content.getByText('The second page')).toBeVisible();
  await expect(heading()).toHaveText('Second & last');

  await shell.getByRole('link', { name: 'Back to Antway' }).click();
  await expect(heading()).toHaveText('Explore the Autonomi network');
  expect(shell.url()).toBe(`${site.root}/`);
  await shell.goBack();
  await expect(content.getByText('The second page')).toBeVisible();
});

test('the bar and the URL follow what scripts of the site do to its URL and title', {
  tag: '@full',
}, async () => {
  await reloadHurried();
  await openSite('/app/index.html');
  const content = await untilViewed(shell, `/${site.address}/app/index.html`);
  await expect(heading()).toHaveText('App');
  await content.getByRole('button', { name: 'Two' }).click();
  await expect(heading()).toHaveText('Step two');
  await expect.poll(() => new URL(shell.url()).hash).toBe(`#view=${site.address}/app/two?q=1`);
  await expect(shell).toHaveTitle('Step two · Antway');
  await content.getByRole('button', { name: 'Three' }).click();
  await expect(heading()).toHaveText('Step three');
  await expect(bar().getByRole('link', { name: 'Open in a tab' })).toHaveAttribute(
    'href',
    `/${site.address}/app/three`,
  );
  await content.getByRole('link', { name: 'Part' }).click();
  await expect.poll(() => new URL(shell.url()).hash).toBe(`#view=${site.address}/app/three#part`);
  await untilPolledTwice();
  await expect(heading()).toHaveText('Step three');
  await expect(state()).toHaveText('Verified');
  // The site hears nothing of the questions.
  await expect(content.locator('#heard')).toHaveText('nothing');
  await shell.goBack();
  await expect.poll(() => new URL(shell.url()).hash).toBe(`#view=${site.address}/app/three`);
});

test('a link to a PDF, which Chromium shows in no sandbox, is offered for a tab, on both origins', {
  tag: '@full',
}, async () => {
  test.slow();
  const pages = {
    'index.html': '<!doctype html><title>Papers</title><a href="my%20paper.pdf?x">Paper</a>',
    'my paper.pdf': makePdf(['one', 'two'], 1_000),
  };
  const address = await publish(await makeTarchive(pages), site.peer);
  for (const origin of [site.root, site.host.url]) {
    shell = await openShellIn(context, `${origin}/#view=${address}/`);
    await expect(heading()).toHaveText('Papers');
    await viewed(shell).getByRole('link', { name: 'Paper' }).click();
    await expect(shell.getByRole('heading', { name: 'This PDF opens in a tab' })).toBeVisible();
    await expect(heading()).toHaveText('my paper.pdf');
    const cover = shell.locator('.viewer-cover');
    // The frame shows nothing that could be verified or not.
    await expect(state()).toHaveCount(0);
    expect(await cover.boundingBox()).toEqual(await shell.locator('.viewer-frame').boundingBox());
    await expectAccessible(shell, { include: '.viewer-cover' });
    const opened = context.waitForEvent('page');
    const answered = context.waitForEvent('response', (response) =>
      response.url().endsWith('/my%20paper.pdf?x'),
    );
    await cover.getByRole('link', { name: 'Open in a tab' }).click();
    expect((await answered).headers()['content-type']).toBe('application/pdf');
    await (await opened).close();
    await cover.getByRole('button', { name: 'Back to the site' }).click();
    await expect(heading()).toHaveText('Papers');
    await expect(cover).toHaveCount(0);
    await expect(state()).toHaveText('Verified');
  }
});

test('the bar follows a fragment of a page without scripts on the shared origin', {
  tag: '@full',
}, async () => {
  const other = await openShellIn(context, site.host.url);
  const text = `<!doctype html><title>Chapters</title><a href="#two">Two</a><p id="two">The second</p>`;
  const address = await publish(await makeTarchive({ 'index.html': text }), site.peer);
  await other.goto(`${site.host.url}/#view=${address}/`);
  await viewed(other).getByRole('link', { name: 'Two' }).click();
  await expect.poll(() => new URL(other.url()).hash).toBe(`#view=${address}/#two`);
});

test('after a hard reload, which loads the shell without its worker, the site is shown again', {
  tag: '@full',
}, async () => {
  await openSite();
  await untilViewed(shell, `/${site.address}/`);
  await expect(state()).toHaveText('Verified');
  await hardReload(shell);
  await expect(viewed(shell).locator('#ran')).toHaveText('running');
  await expect(state()).toHaveText('Verified');
});

test('the back button goes back inside the site, and then to the app', async () => {
  await openSite();
  const content = await untilViewed(shell, `/${site.address}/`);
  await content.getByRole('link', { name: 'Second' }).click();
  await expect(heading()).toHaveText('Second & last');
  await shell.goBack();
  await expect(heading()).toHaveText('Low Tide');
  await expect.poll(() => new URL(shell.url()).hash).toBe(`#view=${site.address}/`);
  await shell.goBack();
  await expect(heading()).toHaveText('Explore the Autonomi network');
});

test('the way back works while another file still opens', { tag: '@full' }, async () => {
  await openSite();
  const content = await untilViewed(shell, `/${site.address}/`);
  await expect(heading()).toHaveText('Low Tide');
  // The worker does not answer for the second file.
  await shell.evaluate(() => {
    const { fetch } = window;
    window.fetch = (input, init) =>
      String(input instanceof Request ? input.url : input).includes('second.html')
        ? new Promise((_, reject) => {
            init?.signal?.addEventListener('abort', () => reject(init.signal!.reason));
          })
        : fetch(input, init);
  });
  await bar().getByRole('button', { name: 'Files' }).click();
  const list = shell.getByRole('region', { name: 'Files of this site' });
  await list.getByRole('button', { name: 'docs/' }).click();
  await list.getByRole('link', { name: 'second.html' }).click();
  await expect(shell.getByRole('heading', { name: 'Opening …' })).toBeVisible();
  await shell.goBack();
  await expect(content.locator('#ran')).toHaveText('running');
  await expect(heading()).toHaveText('Low Tide');
});

test('a page that becomes known late does not change the URL of the screen that the user went back to', {
  tag: '@full',
}, async () => {
  const letter = await publish(Buffer.from('a letter'), site.peer);
  await shell.reload(); // the viewer reloads a shell that did not come from the worker
  await shell.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Live' }).click();
  await shell.evaluate(() => {
    const { fetch } = window;
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let answers = 0;
    let held = 0;
    // The first answer tells the pages before.
    window.fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (!String(input).includes('/-/view?') || ++answers === 1) return answer;
      held++;
      await gate;
      held--;
      return answer;
    };
    const { setTimeout } = window;
    /** The viewer looks again after pauses, which take no time now. Resolves when it looks no more. */
    const openGate = async () => {
      Object.assign(window, { setTimeout: (run: () => void) => setTimeout(run) });
      open();
      for (let idle = 0; idle < 10; idle = held > 0 ? 0 : idle + 1)
        await new Promise((resolve) => setTimeout(resolve, 10));
    };
    Object.assign(window, { openGate, answers: () => answers });
  });
  await shell.evaluate((path) => location.assign(path), `/#view=${letter}`);
  await expect(viewed(shell).getByText('a letter')).toBeVisible();
  await shell.waitForFunction(() => (window as unknown as { answers(): number }).answers() > 1);
  await shell.goBack();
  await shell.evaluate(() => (window as unknown as { openGate(): Promise<void> }).openGate());
  expect(new URL(shell.url()).hash).toBe('#live');
  await expect(heading()).toHaveText('Live');
});

test('a tab that was hidden while the browser stopped the workers still knows its page', {
  tag: '@full',
}, async () => {
  await reloadHurried();
  await openSite();
  await untilViewed(shell, `/${site.address}/`);
  await expect(state()).toHaveText('Verified');
  await setHidden(shell, true);
  await stopWorkers(shell);
  await setHidden(shell, false);
  await untilPolledTwice();
  await expect(heading()).toHaveText('Low Tide');
  await expect(state()).toHaveText('Verified');
});

test('a link from a site to another opens the other site below the bar', { tag: '@full' }, async () => {
  const linking = await publish(
    await makeTarchive({
      'index.html': `<!doctype html><title>Linking</title><a href="ant://${site.address}/">Low tide</a>`,
    }),
    site.peer,
  );
  await shell.goto(`${site.root}/#view=${linking}/`);
  const content = await untilViewed(shell, `/${linking}/`);
  await expect(heading()).toHaveText('Linking');
  await content.getByRole('link', { name: 'Low tide' }).click();
  await untilViewed(shell, `/${site.address}/`);
  await expect(content.locator('#ran')).toHaveText('running');
  await expect(heading()).toHaveText('Low Tide');
  await expect(state()).toHaveText('Verified');
});

test('the bar pins, lists files, tells source and size, and changes scripts', { tag: '@full' }, async () => {
  await openSite();
  const content = await untilViewed(shell, `/${site.address}/`);
  await expect(heading()).toHaveText('Low Tide');
  await bar().getByRole('button', { name: 'Pin' }).click();
  await expect(bar().getByRole('button', { name: 'Unpin' })).toBeVisible();

  await state().click();
  const details = shell.getByRole('region', { name: 'Details' });
  await expect(details).toContainText('compared every byte that you see with the address');
  await expect(details).toContainText(new URL(site.peer.url).host);
  await expect(details).toContainText('On, on the site’s own origin');
  await expect(details).toContainText(/\d B|kB/);
  await details.getByRole('button', { name: 'Forbid scripts' }).click();
  await expect(content.locator('#ran')).toHaveText('still');
  await expect(shell.locator('.viewer-frame')).not.toHaveAttribute('sandbox', /allow-scripts/);
  if (!(await details.isVisible())) await state().click();
  await details.getByRole('button', { name: 'Allow scripts' }).click();
  await expect(content.locator('#ran')).toHaveText('running');

  await bar().getByRole('button', { name: 'Files' }).click();
  const list = shell.getByRole('region', { name: 'Files of this site' });
  await list.getByRole('button', { name: 'docs/' }).click();
  await list.getByRole('link', { name: 'second.html' }).click();
  await expect(content.getByText('The second page')).toBeVisible();
  await shell.keyboard.press('Escape');
});

test('a link with a modifier key, and the bar’s link, open the site bare in a tab', {
  tag: '@full',
}, async () => {
  await openSite();
  await untilViewed(shell, `/${site.address}/`);
  await expect(heading()).toHaveText('Low Tide');
  const opened = context.waitForEvent('page');
  await bar().getByRole('link', { name: 'Open in a tab' }).click();
  const tab = await opened;
  await expect(tab).toHaveTitle('Low Tide');
  expect(tab.url()).toBe(`${site.origin}/`);
  await tab.close();

  await shell.getByRole('link', { name: 'Back to Antway' }).click();
  const link = shell.getByRole('region', { name: 'Last opened' }).getByRole('link').first();
  const another = context.waitForEvent('page');
  await link.click({ modifiers: ['Control'] });
  await expect(await another).toHaveTitle('Low Tide');
});

test('a link to another host does not open below the bar, and the viewer offers it for a tab', {
  tag: '@full',
}, async () => {
  await reloadHurried();
  await openSite();
  const content = await untilViewed(shell, `/${site.address}/`);
  await content.getByRole('link', { name: 'Outside' }).click();
  const notice = shell.getByRole('alert').filter({ hasText: 'leads out of the site' });
  await expect(notice).toBeVisible();
  await untilPolledTwice();
  await expect(heading()).toHaveText('Low Tide');
  await expect(state()).toHaveCount(0);
  await expect(shell.locator('.viewer-cover')).toHaveCount(1);
  expect(await notice.boundingBox()).toEqual(await shell.locator('.viewer-frame').boundingBox());
  const outside = notice.getByRole('link');
  await expect(outside).toHaveAttribute('href', /^https:\/\/outside\.example\//);
  await expect(outside).toHaveAttribute('rel', 'noopener noreferrer');
  await notice.getByRole('button', { name: 'Back to the site' }).click();
  await expect(content.locator('#ran')).toHaveText('running');
  await expect(state()).toHaveText('Verified');
});

test('full screen is allowed only after the user asks for it', { tag: '@full' }, async () => {
  await openSite();
  const content = await untilViewed(shell, `/${site.address}/`);
  await expect(heading()).toHaveText('Low Tide');
  const isAllowed = () => content.locator('html').evaluate(() => document.fullscreenEnabled);
  expect(await isAllowed()).toBe(false);
  await state().click();
  await shell
    .getByRole('region', { name: 'Details' })
    .getByRole('button', { name: 'Allow', exact: true })
    .click();
  await expect.poll(isAllowed).toBe(true);
  await shell.getByRole('link', { name: 'Back to Antway' }).click();
  await openSite();
  await untilViewed(shell, `/${site.address}/`);
  await expect(heading()).toHaveText('Low Tide');
  expect(await isAllowed()).toBe(false);
});

test('an address that leads nowhere opens the gateway’s error page, and the way back leads to the app', {
  tag: '@full',
}, async () => {
  await shell.getByRole('combobox', { name: 'Search or open an address' }).fill('ab'.repeat(32));
  await shell.keyboard.press('Enter');
  await shell.waitForURL(`${site.root}/${'ab'.repeat(32)}`);
  await shell.goBack();
  await expect(heading()).toHaveText('Explore the Autonomi network');
});

test('a site opens below the bar offline after it was pinned', { tag: '@full' }, async ({
  startPeer,
  startHost,
}) => {
  // Its peer and its host end.
  site = await startSiteOnOwnOrigin({ startPeer, startHost }, files);
  shell = await openShellIn(context, site.root);
  await openSite();
  const content = await untilViewed(shell, `/${site.address}/`);
  await bar().getByRole('button', { name: 'Pin' }).click();
  await expect(bar().getByRole('button', { name: 'Unpin' })).toBeVisible();
  await state().click();
  const details = shell.getByRole('region', { name: 'Details' });
  await expect(details).toContainText('Size');
  await shellStored(shell);
  await Promise.all([site.peer.kill(), site.host.kill()]);
  await shell.reload();
  await expect(content.locator('#ran')).toHaveText('running');
  await expect(heading()).toHaveText('Low Tide');
});

test('axe finds nothing in the viewer, light or dark', { tag: '@full' }, async () => {
  await openSite();
  await untilViewed(shell, `/${site.address}/`);
  await expect(state()).toHaveText('Verified');
  const audit = (what: string) =>
    expectAccessible(shell, { what, exclude: 'iframe', schemes: ['light', 'dark'] });
  await audit('site');
  for (const name of ['Files', 'Share']) {
    await bar().getByRole('button', { name }).click();
    await audit(name);
  }
  await state().click();
  await audit('details');
});

test.describe('where sites share the gateway’s origin', () => {
  test('a site opens without scripts, and the bar leads to the question', { tag: '@full' }, async () => {
    const url = site.host.url;
    shell = await openShellIn(context, url);
    await openSite();
    const content = await untilViewed(shell, `/${site.address}/`);
    await expect(content.locator('#ran')).toHaveText('still');
    await expect(heading()).toHaveText('Low Tide');
    await expect(state()).toHaveText('Verified');
    await shell.getByRole('button', { name: 'Open with scripts' }).click();
    await shell.waitForURL(`${url}/${site.address}/`);
    await expect(shell.getByRole('button', { name: 'Trust this site' })).toBeVisible();
  });

  test('a file that browsers save is offered to be saved', { tag: '@full' }, async ({ startPeer: _ }) => {
    shell = await openShellIn(context, site.host.url);
    await openSite('/docs/second.html?download=1');
    await expect(shell.getByRole('heading', { name: 'not shown in a browser' })).toBeVisible();
    const download = shell.waitForEvent('download');
    await shell.getByRole('link', { name: 'Save the file' }).click();
    expect((await download).suggestedFilename()).toBe('second.html');
  });
});

test('the viewer’s frame has a title for screen readers', async () => {
  await openSite();
  await untilViewed(shell, `/${site.address}/`);
  await expect(shell.locator('.viewer-frame')).toHaveAttribute('title', 'Content: Low Tide');
  await expect(viewed(shell).locator('#ran')).toBeVisible();
});
