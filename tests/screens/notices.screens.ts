import type { Page } from '@playwright/test';
import { expect, stopWorkers } from '../support/chromium.ts';
import { lookForUpdate } from '../support/deployment.ts';
import { forward, LoopbackServer, passOn } from '../support/loopback-server.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { publishSample } from './content.ts';
import { tour } from './tour.ts';

const filmBytes = 140_000_000;
const notice = (page: Page) => page.locator('.banner');

tour('10 notices of the app', async ({ album, t, startPeer, startHost, newProfile, openShell }) => {
  const peer = await startPeer();
  const sample = await publishSample(peer);
  const film = await publish(new RepeatingFile(filmBytes), peer);
  const host = await startHost({ peers: [peer.url], sample });
  let version = 0;
  let config: string | undefined;
  await using server = await LoopbackServer.start(async (request, response) => {
    if (request.url === '/sw.js' && version > 0) {
      const plain = { host: request.headers.host, 'accept-encoding': 'identity' };
      const script = Buffer.concat(await (await forward(request, host.url, plain)).toArray());
      response.setHeader('Content-Type', 'text/javascript');
      response.end(`${script}\n// version ${version}\n`);
    } else if (request.url === '/antway.json' && config !== undefined) {
      response.setHeader('Content-Type', 'application/json');
      response.end(config);
    } else await passOn(request, response, host.url);
  });

  // Where sites have own origins, there is no notice of another address.
  const url = server.url.replace('127.0.0.1', 'antway.localhost');

  const shell = await openShell(url);
  version = 1;
  await shell.evaluate(lookForUpdate);
  await expect(notice(shell)).toContainText(t.notices.update);
  await album.shoot(shell, 'update', { isWhole: false });
  // An answer that this page does not read to its end.
  await shell.evaluate(async (path) => {
    const reader = (await fetch(path)).body!.getReader();
    await reader.read();
    Object.assign(window, { stopReading: () => reader.cancel() });
  }, `/${film}`);
  await expect
    .poll(() => shell.evaluate(() => fetch('/-/stats').then((answer) => answer.text())))
    .toContain('"active":1');
  await notice(shell).getByRole('button', { name: t.notices.updateNow }).click();
  await expect(notice(shell)).toContainText(t.notices.updateWaits(1));
  await album.shoot(shell, 'update that waits', { isWhole: false });
  await notice(shell).getByRole('button', { name: t.common.cancel }).click();

  // Chromium would keep the former worker while it sends an answer.
  await shell.evaluate(() => (window as unknown as { stopReading(): Promise<void> }).stopReading());
  const other = await shell.context().newPage();
  await other.goto(url);
  await expect(notice(other)).toContainText(t.notices.update);
  await notice(other).getByRole('button', { name: t.notices.updateNow }).click();
  await expect(notice(shell)).toContainText(t.notices.updatedElsewhere, { timeout: 90_000 });
  await album.shoot(shell, 'update in another tab', { isWhole: false });
  await other.close();
  await shell.close();

  const former = await openShell(url);
  config = '{"peers":';
  // The worker would ask the host again after a minute.
  await stopWorkers(former);
  await expect(async () => {
    await former.reload();
    await expect(notice(former)).toContainText(t.status.configRefused, { timeout: 3_000 });
  }).toPass({ timeout: 60_000 });
  await album.shoot(former, 'new configuration that is refused', { isWhole: false });
  await former.close();

  const first = await (await newProfile()).newPage();
  await first.goto(url);
  await expect(notice(first)).toContainText(t.status.configWrong);
  await album.shoot(first, 'broken configuration');
  await first.goto(`${url}/${sample.address}/`);
  await expect(first.getByRole('heading', { level: 1 })).toHaveText(t.pages.errors.BAD_CONFIG);
  await album.shoot(first, 'content behind a broken configuration');
});
