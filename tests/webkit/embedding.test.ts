import { expect } from 'vitest';
import { lookAtPlainSite, pageText, publishContent, serveSite } from '../browser/embedding-site.ts';
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
      await host.stop();
    }
  });
}
