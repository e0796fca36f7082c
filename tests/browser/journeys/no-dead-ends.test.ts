import type { Page } from '@playwright/test';
import { expect, sceneOfFile, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { freePort, LoopbackServer } from '../../support/loopback-server.ts';
import { publish } from '../../support/publish.ts';
import { openAdvancedOptions } from '../../support/settings.ts';
import { makeTarchive } from '../../support/tar.ts';

const scene = sceneOfFile(async ({ openWorker }) => ({ gateway: await openWorker({ peers: [] }) }));

const unknown = `${'ab'.repeat(32)}/`;
const field = (page: Page) => page.getByLabel('Add a peer');
const peers = (page: Page) => page.getByRole('region', { name: 'Peers' });

test('an unknown address shows what the gateway is connected to, and leads to a peer', {
  tag: '@full',
}, async ({ startPeer }) => {
  const peer = await startPeer({ webTransport: 'none' });
  const { shell: page } = await openFreshShell(scene().gateway, unknown, { peers: [peer.url] });
  await expect(page.getByRole('heading')).toHaveText('Not found');
  await expect(page.getByRole('listitem').first()).toHaveText(`${peer.url}: serves what it stores`);
  await expect(page.getByText('npm start -- --network')).toBeVisible();
  await expect(page.getByText('The peer does not have this chunk.')).toBeHidden();
  await page.getByText('Details').click();
  await expect(page.getByText('The peer does not have this chunk.')).toBeVisible();

  await page.getByRole('link', { name: 'Add a peer' }).click();
  await expect(field(page)).toBeFocused();
  await expect(field(page)).toHaveValue('');
  await page.goBack();
  await page.getByRole('link', { name: 'Connect AntTP' }).click();
  await expect(field(page)).toHaveValue('anttp+http://127.0.0.1:18888');
  await expect(peers(page)).toContainText('A link filled in this field.');
  await expect(peers(page).getByRole('listitem')).toHaveCount(1);
});

test('a missing file leads to the start page and the files of its site', { tag: '@full' }, async ({
  startPeer,
  folder,
}) => {
  const peer = await startPeer({ webTransport: 'none' });
  const files = {
    'index.html': '<h1>The start</h1>',
    'texts/a letter.txt': 'a letter',
    'texts/b/c.txt': 'c',
  };
  const site = await publish(makeTarchive(folder, files), peer);
  const gateway = await openFreshShell(scene().gateway, '', { peers: [peer.url] });
  const page = await gateway.openPage(`/${site}/`);
  const response = await page.goto(`${gateway.url}/${site}/texts/no%20letter.txt`);
  expect(response!.status()).toBe(404);
  expect(await page.locator('script').count()).toBe(0);
  await expect(page.getByText('This site has no file “texts/no letter.txt”.')).toBeVisible();
  await page.getByText('Files in texts/').click();
  await expect(page.getByRole('listitem')).toHaveText(['b/', 'a letter.txt']);
  await page.getByRole('link', { name: 'a letter.txt' }).click();
  await expect(page.getByText('a letter')).toBeVisible();
  await page.goBack();
  await page.getByRole('link', { name: 'Start page of this site' }).click();
  await expect(page.getByRole('heading', { name: 'The start' })).toBeVisible();

  const answer = await gateway.fetch(`/${site}/texts/no`);
  expect(Object.keys(JSON.parse(answer.text).details).sort()).toEqual(['path', 'reason']);
});

test('a link that suggests a peer adds nothing and asks no server before a click', async () => {
  const asked: string[] = [];
  await using server = await LoopbackServer.start(({ url = '' }, response) => {
    asked.push(url);
    response.end();
  });
  const { shell: page, url } = await openFreshShell(scene().gateway);
  for (const text of [server.url, `\u202e${server.url}`]) {
    await page.goto('about:blank');
    await page.goto(`${url}/#peer=${encodeURIComponent(text)}`);
    await expect(field(page)).toHaveValue(server.url);
    await expect(field(page)).toBeFocused();
    await expect(peers(page)).toContainText('A link filled in this field.');
  }
  await page.goto('about:blank');
  await page.goto(`${url}/#peer=${'x'.repeat(100_000)}`);
  await expect(field(page)).toHaveValue('x'.repeat(300));
  await expect(peers(page).getByRole('listitem')).toHaveCount(0);
  expect(asked).toEqual([]);
});

test.describe('adding a peer', () => {
  const cors = { 'Access-Control-Allow-Origin': '*' };

  test('finds an Antway peer by its bare host', { tag: '@full' }, async ({ startPeer }) => {
    const peer = await startPeer({ webTransport: 'none' });
    const { shell: page } = await openFreshShell(scene().gateway, '#settings');
    await field(page).fill(`  ${peer.url.replace('http://', '')} `);
    await field(page).press('Enter');
    await expect(peers(page).getByRole('listitem')).toContainText(peer.url);
    await expect(page.getByRole('main').getByRole('status').first()).toContainText('Antway peer added');
    await expect(field(page)).toHaveValue('');
    await field(page).fill(`${peer.url}/some/path?query`);
    await field(page).press('Enter');
    await expect(peers(page).getByRole('alert')).toHaveText('This peer is already in the list.');
  });

  for (const { kind, path, status, body } of [
    {
      kind: 'anttp',
      path: '/anttp-0/binary/chunk/0',
      status: 400,
      body: '{"GetError":{"BadAddress":"too short"}}',
    },
    { kind: 'antd', path: '/health', status: 200, body: '{"status":"ok","network":"default"}' },
  ]) {
    test(`finds out that a program is ${kind}`, { tag: '@full' }, async () => {
      await using program = await LoopbackServer.start((request, response) => {
        const isKnown = request.url === path;
        response.writeHead(isKnown ? status : 404, cors).end(isKnown ? body : '{"error":"unknown"}');
      });
      const { shell: page } = await openFreshShell(scene().gateway, '#settings');
      await field(page).fill(program.url);
      await field(page).press('Enter');
      await expect(peers(page).getByRole('listitem')).toContainText(`${kind}+${program.url}`);
    });
  }

  test('explains why it finds no peer, and adds the URL only if the user insists', {
    tag: '@full',
  }, async () => {
    const hostile = `<img src=x onerror=alert(1)>\u202e${'x'.repeat(200_000)}`;
    await using web = await LoopbackServer.start((_, response) => response.writeHead(200, cors).end(hostile));
    await using closed = await LoopbackServer.start((_, response) => response.end(hostile));
    const { shell: page } = await openFreshShell(scene().gateway, '#settings');
    const add = async (text: string) => {
      await field(page).fill(text);
      await field(page).press('Enter');
    };
    const alert = peers(page).getByRole('alert');
    await add('not a host');
    await expect(alert).toContainText('Enter an https:// URL');
    await expect(field(page)).toBeFocused();
    await add('http://peer.example');
    await expect(alert).toContainText('Only a peer on this computer');
    await add(web.url);
    await expect(alert).toHaveText(/A server answers at 127\.0\.0\.1:\d+, but it is no Antway peer/);
    await add(closed.url);
    await expect(alert).toContainText('does not allow this page to read its answers (CORS)');
    const gone = `127.0.0.1:${await freePort()}`;
    await add(gone);
    await expect(alert).toContainText(`Nothing answers at ${gone}`);
    await expect(peers(page).getByRole('listitem')).toHaveCount(0);
    await peers(page).getByRole('button', { name: 'Add it anyway' }).click();
    await expect(peers(page).getByRole('listitem')).toContainText(`http://${gone}`);
    await expect(alert).toHaveText('');
  });
});

test('the settings show daily options, and fold advanced options', { tag: '@full' }, async () => {
  const { shell: page } = await openFreshShell(scene().gateway, '#settings');
  for (const name of ['Appearance', 'Peers', 'Storage', 'Names', 'Sites and their scripts']) {
    await expect(page.getByRole('region', { name, exact: true })).toBeVisible();
  }
  await expect(page.getByText('WebTransport only')).toBeHidden();
  await expect(page.getByText('Address to block')).toBeHidden();
  await openAdvancedOptions(page);
  await expect(page.getByText('WebTransport only')).toBeVisible();
  await expect(page.getByText('Address to block')).toBeVisible();
});
