import { expect } from '../support/chromium.ts';
import { publishSample } from './content.ts';
import { tour } from './tour.ts';

tour('11 self-test', async ({ album, startPeer, startHost, newProfile }) => {
  const peer = await startPeer();
  const host = await startHost({ peers: [peer.url], sample: await publishSample(peer) });
  const page = await (await newProfile()).newPage();
  const showReport = async () => {
    await expect(page.locator('#report')).toBeAttached({ timeout: 60_000 });
  };
  await page.goto(`${host.url}/-/self-test`);
  await showReport();
  await album.shoot(page, 'passed');
  await peer.kill();
  await page.reload();
  await showReport();
  await page.locator('summary').click();
  await album.shoot(page, 'without a peer, with the report');
});
