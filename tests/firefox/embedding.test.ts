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
