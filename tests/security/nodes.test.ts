import type { Frame, Page } from '@playwright/test';
import {
  expect,
  fetchIn,
  type Gateway,
  openShellIn,
  type SceneParts,
  scenesOfFile,
  test,
  trustSite,
} from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { untilViewed } from '../support/viewer.ts';
import { attack } from './attack.ts';

const group = 'Connections to nodes';

/** A node that does not exist, on this computer. */
const node = `/ip4/127.0.0.1/udp/9/webrtc-direct/certhash/uEiAkAsFZc-iV5UToJHyETA8GLBIVdzB10Qv6VuNlwqTwkQ/p2p/${'5a'.repeat(32)}`;

const absent = 'ab'.repeat(32);

type Offering = { heard: unknown[] };

/** Offers the worker a port, as the page with the connections to nodes does, and listens to it. */
function offerPort(page: Page | Frame): Promise<void> {
  return page.evaluate(() => {
    const heard: unknown[] = [];
    Object.assign(globalThis, { heard });
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => heard.push(data);
    // The leader reports its connections at once.
    port1.postMessage({ type: 'status', status: { connected: 9, known: 9, lookups: 0 } });
    navigator.serviceWorker.controller!.postMessage({ type: 'NODES' }, [port2]);
  });
}

const heardBy = (page: Page | Frame) => page.evaluate(() => (globalThis as unknown as Offering).heard);

async function allowNodes(gateway: Gateway): Promise<void> {
  const body = JSON.stringify({ peers: [], useNodes: true });
  expect((await gateway.fetch('/-/settings', { method: 'PUT', body })).status).toBe(200);
}

/** Opens the shell with connections to nodes. */
async function prepare({ startPeer, openGateway }: Pick<SceneParts, 'startPeer' | 'openGateway'>) {
  const peer = await startPeer();
  return { peer, gateway: await openGateway({ peers: [peer.url], nodes: [node], isolation: 'path' }) };
}

const scenes = scenesOfFile(async (parts, _: 'shared') => prepare(parts));
let sites = 0;

/** Opens a new site that the user trusts on the origin of the shell. The attacks share the gateway. */
async function openScene({ peer, gateway }: Awaited<ReturnType<typeof prepare>>) {
  const files = { 'index.html': '<!doctype html><title>Trusted</title>', 'number.txt': String(++sites) };
  const site = await publish(await makeTarchive(files), peer);
  // The attack before has turned the peers off.
  expect((await gateway.fetch('/-/settings', { method: 'PUT', body: '{}' })).status).toBe(200);
  const attacker = await gateway.shell.context().newPage();
  await attacker.goto(`${gateway.url}/${site}/`);
  await trustSite(attacker);
  await expect(attacker).toHaveTitle('Trusted');
  await allowNodes(gateway);
  return { gateway, attacker };
}

/** The worker looks for a record that it has not looked for, and can ask only nodes. */
async function askForRecord({ shell }: Gateway): Promise<void> {
  const { status } = await fetchIn(shell, `/${(++sites).toString(16).padStart(64, 'ab')}`);
  expect(status).toBe(504);
}

test('the worker takes the port of a window of the shell', { tag: '@full' }, async ({
  startPeer,
  openGateway,
}) => {
  const { gateway } = await openScene(await prepare({ startPeer, openGateway }));
  // The shell's own port comes first.
  const nodes = async () => JSON.parse((await gateway.fetch('/-/peers')).text).nodes;
  await expect.poll(nodes).not.toBeNull();
  await offerPort(gateway.shell);
  const asking = fetchIn(gateway.shell, `/${absent}`).catch(() => undefined);
  await expect
    .poll(() => heardBy(gateway.shell))
    .toContainEqual(expect.objectContaining({ type: 'request', address: absent }));
  await gateway.shell.reload();
  await asking;
});

attack(
  group,
  'a page of a trusted site offers the worker a port for the requests to nodes',
  'the worker takes ports of the shell’s windows only: the page hears of no request',
  async () => {
    const { gateway, attacker } = await openScene(await scenes('shared'));
    await offerPort(attacker);
    await askForRecord(gateway);
    expect(await heardBy(attacker)).toEqual([]);
  },
  { tag: '@full' },
);

attack(
  group,
  'a page of a trusted site gives itself the shell’s URL, and then offers the worker a port',
  'the URL of the document counts: the page hears of no request',
  async () => {
    const { gateway, attacker } = await openScene(await scenes('shared'));
    await attacker.evaluate(() => history.replaceState(null, '', '/'));
    await offerPort(attacker);
    await askForRecord(gateway);
    expect(await heardBy(attacker)).toEqual([]);
  },
  { tag: '@full' },
);

attack(
  group,
  'a frame without a URL of its own in a page of a trusted site offers the worker a port',
  'the frame hears of no request',
  async () => {
    const { gateway, attacker } = await openScene(await scenes('shared'));
    await attacker.evaluate(() => {
      history.replaceState(null, '', '/');
      const frame = document.createElement('iframe');
      frame.srcdoc = '<title>Frame</title>';
      document.body.append(frame);
      return new Promise((resolve) => frame.addEventListener('load', resolve));
    });
    const frame = attacker.frames()[1]!;
    await offerPort(frame);
    await askForRecord(gateway);
    expect(await heardBy(frame)).toEqual([]);
  },
  { tag: '@full' },
);

attack(
  group,
  'a page of a trusted site asks for the connections’ state, or turns them on',
  'the endpoints are refused, and the setting stays off',
  async () => {
    const { gateway, attacker } = await openScene(await scenes('shared'));
    await gateway.fetch('/-/settings', { method: 'PUT', body: '{}' });
    expect((await fetchIn(attacker, '/-/peers')).status).toBe(403);
    const body = JSON.stringify({ useNodes: true });
    expect((await fetchIn(attacker, '/-/settings', { method: 'PUT', body })).status).toBe(403);
    expect(JSON.parse((await gateway.fetch('/-/config')).text)).toMatchObject({ useNodes: false });
  },
);

attack(
  group,
  'a page of a trusted site offers the worker a port, and waits for a question about its connections',
  'the worker takes ports of the shell’s windows only: it asks the shell',
  async () => {
    const { gateway, attacker } = await openScene(await scenes('shared'));
    const connected = async () => JSON.parse((await gateway.fetch('/-/peers')).text).nodes?.connected;
    // The shell's own port comes first.
    await expect.poll(connected).toBe(0);
    await offerPort(attacker);
    // The worker has had the message when it answers a later request of the page.
    expect((await fetchIn(attacker, '/-/peers')).status).toBe(403);
    expect(await connected()).toBe(0);
    expect(await heardBy(attacker)).toEqual([]);
    // It takes a port of a window of the shell, and asks there.
    await offerPort(gateway.shell);
    const asking = connected();
    await expect.poll(() => heardBy(gateway.shell)).not.toEqual([]);
    await asking;
    await gateway.shell.reload();
  },
);

attack(
  group,
  'a site in the viewer gives itself the URL of the shell’s hidden frame, and offers the worker of its origin a port',
  'only the hidden frame itself may: the page hears of no request',
  async ({ startPeer, startHost, context }) => {
    const peer = await startPeer();
    const files = { 'index.html': '<!doctype html><title>Own</title><h1>Own</h1>', 'plain.txt': 'text' };
    const address = await publish(await makeTarchive(files), peer);
    const host = await startHost({ peers: [peer.url], nodes: [node] });
    const root = `http://antway.localhost:${new URL(host.url).port}`;
    const shell = await openShellIn(context, root);
    const body = JSON.stringify({ useNodes: true });
    expect((await fetchIn(shell, '/-/settings', { method: 'PUT', body })).status).toBe(200);
    await shell.goto(`${root}/#view=${address}/`);
    const content = await untilViewed(shell, `/${address}/`);
    await expect(content.getByRole('heading')).toHaveText('Own');
    const isPlain = (frame: Frame) =>
      frame.url().endsWith(`.antway.localhost:${new URL(host.url).port}/plain.txt`);
    // Documents of the site hide the worker from its scripts. A plain file does not.
    await content.locator('body').evaluate((body) => {
      const frame = document.createElement('iframe');
      frame.src = '/plain.txt';
      body.append(frame);
      return new Promise((resolve) => frame.addEventListener('load', resolve));
    });
    const frame = shell.frames().find(isPlain)!;
    await frame.evaluate(() => history.replaceState(null, '', '/-/bridge'));
    await offerPort(frame);
    // The site's worker asks the peer, which has no such record, and then nodes through the shell. No node answers.
    expect((await fetchIn(frame, `/-/content/${absent}`)).status).toBe(504);
    expect(await heardBy(frame)).toEqual([]);
  },
  { tag: '@full' },
);
