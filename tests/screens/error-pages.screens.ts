import type { ServerResponse } from 'node:http';
import type { Page } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import { forward, freePort, LoopbackServer, passOn } from '../support/loopback-server.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { publishSample } from './content.ts';
import { tour } from './tour.ts';

const unknown = 'ab'.repeat(32);
const denied = 'cd'.repeat(32);
const reportUrl = 'mailto:abuse@gateway.example?subject={address}';

/** A peer that is connected to a network, and answers requests for chunks in its own way. */
function startOddPeer(
  peer: PeerProcess,
  answer: (response: ServerResponse) => void,
): Promise<LoopbackServer> {
  return LoopbackServer.start(async (request, response) => {
    if (request.url === '/-/info') {
      const info = JSON.parse(Buffer.concat(await (await forward(request, peer.url)).toArray()).toString());
      const network = { name: 'mainnet', state: 'connected', peers: 12 };
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.end(JSON.stringify({ ...info, network, webTransport: null }));
    } else if (request.method === 'GET') {
      response.setHeader('Access-Control-Allow-Origin', '*');
      answer(response);
    } else await passOn(request, response, peer.url);
  });
}

tour('2 pages of the gateway', async ({ album, t, startPeer, startHost, openShell }) => {
  const peer = await startPeer();
  const sample = await publishSample(peer);
  const files = {
    'notes/a letter.txt': 'Dear reader',
    'notes/b letter.txt': 'Dear reader,',
    'a very long name of a file that has to be cut or wrapped somewhere in the list of files.txt': 'x',
    'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
  };
  const folder = await publish(await makeTarchive(files), peer);
  const { errors, firstVisit, confirmTrust, deniedByPeers, progress, missing, details } = t.pages;
  const heading = (page: Page, name: string) =>
    expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  const host = await startHost({ peers: [peer.url], denied: [denied], reportUrl });
  const { url } = host;
  const page = await openShell(url);

  await album.load(page, 'unknown address', `${url}/${unknown}`, () => heading(page, errors.NOT_FOUND));
  await page.locator('summary', { hasText: details }).click();
  await album.shoot(page, 'unknown address, details');
  const invalid = `${url}/${unknown.slice(1)}/`;
  await page.goto(invalid);
  await album.shoot(page, 'invalid address');
  await album.load(page, 'blocked address', `${url}/${denied}/`, () => heading(page, errors.DENIED));

  await album.load(page, 'first visit to a site', `${url}/${sample.address}/`, () =>
    heading(page, firstVisit.heading),
  );
  await page.getByRole('button', { name: firstVisit.trust }).click();
  await heading(page, confirmTrust.heading);
  await album.shoot(page, 'confirmation of trust');
  await page.goto(`${url}/${sample.address}/`);
  await page.getByRole('button', { name: firstVisit.restrict }).click();
  await expect(page.getByRole('link', { name: 'Low Tide' }).first()).toBeVisible();
  await page.goto(`${url}/${folder}/notes/no-letter.txt`);
  await expect(page.getByText(missing('notes/no-letter.txt'))).toBeVisible();
  await album.shoot(page, 'missing file');
  await album.load(page, 'list of files', `${url}/${folder}/`, () =>
    expect(page.getByRole('link', { name: 'picture.svg' })).toBeVisible(),
  );
  await page.close();

  const dead = await startHost({ peers: [`http://127.0.0.1:${await freePort()}`] });
  const silent = await openShell(dead.url);
  await album.load(silent, 'no peer answers', `${dead.url}/${unknown}`, () =>
    heading(silent, errors.PEERS_UNREACHABLE),
  );
  await silent.locator('summary', { hasText: details }).click();
  await album.shoot(silent, 'no peer answers, details');
  await silent.context().setOffline(true);
  await silent.goto(`${dead.url}/${unknown}`);
  await heading(silent, errors.OFFLINE);
  await album.shoot(silent, 'offline');
  await silent.close();

  await using looking = await startOddPeer(peer, (response) => {
    response.writeHead(503, { 'Retry-After': '2' }).end('{"code":"BUSY"}');
  });
  await using blocking = await startOddPeer(peer, (response) => {
    response.writeHead(451).end('{"code":"DENIED"}');
  });
  await using wrong = await startOddPeer(peer, (response) => response.end('wrong bytes'));
  for (const [state, odd, title] of [
    ['network lookup', looking, progress.title],
    ['wrong bytes', wrong, errors.CORRUPT],
    ['blocked by peers', blocking, deniedByPeers.title],
  ] as const) {
    const own = await startHost({ peers: [odd.url] });
    const waiting = await openShell(own.url);
    // The page of a lookup asks again, and would lead to the result before all pictures are taken.
    await waiting.addInitScript(() => {
      window.fetch = () => new Promise(() => undefined);
    });
    await waiting.goto(`${own.url}/${sample.address}`);
    await heading(waiting, title);
    await album.shoot(waiting, state);
    await waiting.close();
  }
});
