import type { Page } from '@playwright/test';
import { test as base, expect, hardReload, openWithoutScripts } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tar.ts';
import { ChunkRelay } from './chunk-relay.ts';

/** A site whose page tells its own URL, which shows that it came from the site and that its script ran. */
function makeSite(folder: string): Buffer {
  const script = '<script>document.title = location.href</script>';
  return makeTarchive(folder, {
    'index.html': `<p>the front page</p>${script}`,
    'deep/page.html': `<p>a page far down</p>${script}`,
    'letter.txt': 'a letter, which can run no scripts',
  });
}

interface Fixtures {
  peer: PeerProcess;
  /** The address of the site, which the peer has. */
  address: string;
}

const test = base.extend<Fixtures>({
  peer: async ({ startPeer }, use) => use(await startPeer()),
  address: async ({ peer, folder }, use) => use(await publish(makeSite(folder), peer)),
});

test.describe('the first visit, before there is a worker', () => {
  for (const how of ['by address', 'by name']) {
    test(`opens a deep link, ${how}, with path, query and hash`, {
      tag: how === 'by name' ? [] : '@full',
    }, async ({ peer, address, startHost, page }) => {
      const host = await startHost({
        peers: [peer.url],
        names: { garden: address },
        trusted: [address],
      });
      const root = how === 'by name' ? 'garden' : address;
      const url = `${host.url}/${root}/deep/page.html?q=a%20b&x=1#part/2`;
      await page.goto(url);
      await expect(page.getByText('a page far down')).toBeVisible();
      await expect(page).toHaveTitle(url);
      expect(page.url()).toBe(url);
    });
  }

  test('opens a deep link whose fragment the user changes while it opens', { tag: '@full' }, async ({
    peer,
    address,
    startHost,
    page,
  }) => {
    const relay = await ChunkRelay.start(peer);
    try {
      const host = await startHost({ peers: [relay.url], trusted: [address] });
      const url = `${host.url}/${address}/deep/page.html`;
      const { held } = relay.holdAfter(0);
      await page.goto(url);
      await held;
      await page.goto(`${url}#part`);
      relay.release();
      await expect(page).toHaveTitle(`${url}#part`);
    } finally {
      await relay.stop();
    }
  });

  test('downloads a file once, although the user changes the fragment after it', { tag: '@full' }, async ({
    peer,
    address,
    startHost,
    page,
  }) => {
    const host = await startHost({ peers: [peer.url] });
    const downloads: string[] = [];
    page.on('download', (download) => downloads.push(download.suggestedFilename()));
    await page.goto(`${host.url}/${address}/letter.txt?download#a`);
    await expect.poll(() => downloads).toEqual(['letter.txt']);
    const changes = await page.evaluate(async () => {
      let count = 0;
      addEventListener('hashchange', () => count++);
      const changed = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
      location.hash = 'b';
      await changed;
      // A second change would come before this answer.
      await fetch('/-/health');
      return count;
    });
    expect(changes).toBe(1);
    expect(downloads).toEqual(['letter.txt']);
  });

  test('asks before a site runs scripts, and then opens the page', { tag: '@full' }, async ({
    peer,
    address,
    startHost,
    page,
  }) => {
    const host = await startHost({ peers: [peer.url] });
    const url = `${host.url}/${address}/deep/page.html?q=1`;
    await page.goto(url);
    await expect(page.getByRole('heading')).toHaveText('First visit to this site');
    await openWithoutScripts(page);
    await expect(page.getByText('a page far down')).toBeVisible();
    expect(page.url()).toBe(url);
    await expect(page).toHaveTitle('');
  });

  test('opens a file that cannot run scripts without a question', { tag: '@full' }, async ({
    peer,
    address,
    startHost,
    page,
  }) => {
    const host = await startHost({ peers: [peer.url] });
    await page.goto(`${host.url}/${address}/letter.txt`);
    await expect(page.getByText('a letter, which can run no scripts')).toBeVisible();
  });
});

test('a reload past the worker ends on the site', { tag: '@smoke' }, async ({
  peer,
  address,
  openWorker,
}) => {
  const gateway = await openWorker({ peers: [peer.url], trusted: [address] });
  const page = await gateway.openPage(`/${address}/deep/page.html?q=1#h`);
  await expect(page.getByText('a page far down')).toBeVisible();
  for (let times = 0; times < 2; times++) {
    await hardReload(page);
    await expect(page.getByText('a page far down')).toBeVisible();
    await expect(page).toHaveURL(`${gateway.url}/${address}/deep/page.html?q=1#h`);
  }
});

test('a second visit works without host and peers', { tag: '@full' }, async ({
  peer,
  address,
  openGateway,
}) => {
  const gateway = await openGateway({ peers: [peer.url], trusted: [address] });
  await gateway.openPage(`/${address}/deep/page.html`);
  await gateway.settled();
  await Promise.all([peer.kill(), gateway.host.kill()]);
  const page = await gateway.openPage(`/${address}/deep/page.html?again`);
  await expect(page.getByText('a page far down')).toBeVisible();
  await page.goto(gateway.url);
  await expect(page.getByRole('combobox', { name: 'Search or open an address' })).toBeVisible();
});

test('an invalid path is reported once', { tag: '@full' }, async ({ peer, openWorker }) => {
  const gateway = await openWorker({ peers: [peer.url] });
  const page = await gateway.shell.context().newPage();
  const loads = countLoads(page);
  await page.goto(`${gateway.url}/nothing/here`);
  await expect(page.getByRole('alert')).toContainText('NOTHING_HERE');
  expect(loads()).toBeLessThanOrEqual(2);
});

test('a page says that the browser prevents the worker from answering, and does not reload for ever', async ({
  peer,
  address,
  openWorker,
}) => {
  const gateway = await openWorker({ peers: [peer.url] });
  const page = await gateway.shell.context().newPage();
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setBypassServiceWorker', { bypass: true });
  const loads = countLoads(page);
  await page.goto(`${gateway.url}/${address}/`);
  await expect(page.getByRole('alert')).toContainText('NOT_ANSWERED');
  expect(loads()).toBe(2);
});

test.describe('a page says that the browser has no service workers', () => {
  const address = 'ab'.repeat(32);

  test('over an insecure connection', async ({ peer, startHost, page }) => {
    const host = await startHost({ peers: [peer.url] });
    const { port } = new URL(host.url);
    // Resolves to loopback (see playwright.config.ts), but is not known as such to the browser.
    for (const path of [`/${address}/`, '/']) {
      await page.goto(`http://insecure.test:${port}${path}`);
      expect(await page.evaluate(() => isSecureContext || 'serviceWorker' in navigator)).toBe(false);
      await expect(page.getByRole('alert')).toContainText('INSECURE_CONTEXT');
      await expect(page.getByRole('alert')).toContainText('unprotected connection');
    }
  });

  test('if the browser has turned them off', { tag: '@full' }, async ({ peer, startHost, page }) => {
    const host = await startHost({ peers: [peer.url] });
    await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'serviceWorker'));
    for (const path of [`/${address}/`, '/']) {
      await page.goto(host.url + path);
      await expect(page.getByRole('alert')).toContainText('WORKERS_UNAVAILABLE');
      await expect(page.getByRole('alert')).toContainText('does not support service workers');
    }
  });
});

/** Counts the documents that the page loads from now on. */
function countLoads(page: Page): () => number {
  let loads = 0;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads++;
  });
  return () => loads;
}
