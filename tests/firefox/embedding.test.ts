import { expect } from 'vitest';
import {
  accountText,
  attackSite,
  hostileFiles,
  lookAtPlainSite,
  pageText,
  publishContent,
  serveSite,
} from '../support/embedding-site.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { test } from './harness.ts';

const crab = 720;

for (const base of ['/', '/repo/']) {
  test(`a plain site at ${base} shows content by every kind of address at the first visit`, async ({
    browser,
    startPeer,
  }) => {
    const peer = await startPeer();
    const published = await publishContent(peer);
    const host = await serveSite(['tests/sites/embedding/plain'], published, peer.url, { base });
    const page = await browser.newPage();
    try {
      await page.goto(host.url + base);
      const report = await page.evaluate(lookAtPlainSite, published.picture);
      const { site, picture } = published;
      const background = `url("${host.url}${base}ant/${site}/assets/img/crab.png")`;
      expect(report).toMatchObject({
        isControlled: true,
        pictures: { prefixed: crab, linked: crab, responsive: crab, tagged: crab },
        links: [`${base}ant/${site}/tides.html`, `${base}ant/${picture}?filename=crab.png&download=`],
        backgrounds: Array(4).fill(background),
        embedded: pageText,
        fetched: { status: 200 },
      });
      expect(report.film).toBeGreaterThan(0);
    } finally {
      await page.close();
      await host.stop();
    }
  });
}

test('a site runs no script and applies no style of an address that it does not trust', async ({
  browser,
  startPeer,
}) => {
  const peer = await startPeer();
  const published = await publishContent(peer);
  const hostile = await publish(await makeTarchive(hostileFiles), peer);
  const files = { '/account.html': `<!doctype html><p>${accountText}</p>` };
  const host = await serveSite(['tests/sites/embedding/plain'], published, peer.url, { files });
  const page = await browser.newPage();
  try {
    await page.goto(host.url);
    const report = await page.evaluate(attackSite, hostile);
    expect(report).toMatchObject({
      script: 'refused',
      isStyled: false,
      embedded: [pageText, 'Next', expect.toSatisfy((text?: string | null) => !text?.includes(accountText))],
      isEmbeddedStyled: true,
      refreshed: 'Refresh',
    });
  } finally {
    await page.close();
    await host.stop();
  }
});

test('placeholders stand in place of pictures until the worker is ready, and notes in place of failed content', {
  tags: 'full',
}, async ({ browser, startPeer }) => {
  const peer = await startPeer();
  const published = await publishContent(peer);
  const register = "navigator.serviceWorker.register('sw.js')";
  const picture = `src="ant://${published.picture}" width="300" height="200"`;
  const late = `<!doctype html><script src="antway.js" data-worker="none"></script><img ${picture} alt="A crab">
    <script>addEventListener('click', () => ${register});</script>`;
  const missing = `<!doctype html><script src="antway.js" data-worker="none"></script><script>${register}</script>
    <img id="number" src="ant://1234" alt="A number"><img src="ant://${published.site}/assets/img/pool.jpg" alt="A pool">`;
  const files = { '/late.html': late, '/missing.html': missing };
  const host = await serveSite(['tests/sites/embedding/own-worker'], published, peer.url, { files });
  const page = await browser.newPage();
  const look = () =>
    page.evaluate(() => {
      const image = document.querySelector<HTMLImageElement>('img[alt="A crab"]')!;
      const { width, height } = image.getBoundingClientRect();
      return { filter: getComputedStyle(image).filter, width, height, natural: image.naturalWidth };
    });
  try {
    await page.goto(`${host.url}/late.html`);
    expect(await look()).toEqual({ filter: 'contrast(0) opacity(0.2)', width: 300, height: 200, natural: 0 });
    await page.evaluate(() => document.body.click());
    await expect
      .poll(look, { timeout: 20_000 })
      .toEqual({ filter: 'none', width: 300, height: 200, natural: crab });

    await peer.kill();
    await page.goto(`${host.url}/missing.html`);
    const notes = () =>
      page.evaluate(() => Array.from(document.querySelectorAll('[role=note]'), (note) => note.textContent));
    await expect
      .poll(notes, { timeout: 20_000 })
      .toEqual([
        expect.stringMatching(/^A number \(“ant:\/\/1234” is not a content address/),
        expect.stringMatching(/^A pool \(/),
      ]);
  } finally {
    await page.close();
    await host.stop();
  }
});
