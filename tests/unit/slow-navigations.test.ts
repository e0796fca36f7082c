// @module-tag slow
// @module-tag unix
import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Address } from '../../src/address.ts';
import { AntwayError } from '../../src/errors.ts';
import { type Deployment, deploymentAt, embeddedAt } from '../../src/gateway/deployment.ts';
import { de } from '../../src/gateway/pages/texts/de.ts';
import { en } from '../../src/gateway/pages/texts/en.ts';
import { limits } from '../../src/limits.ts';
import { startFastTime } from '../support/fast-time.ts';
import { LookingPeer } from '../support/looking-peer.ts';
import { publish } from '../support/publish.ts';
import { encryptedFile, noise, type Records } from './support/encrypted-file.ts';
import { contextOf, Network, requestOf, startGateway } from './support/gateway.ts';
import { patient, test } from './support/node-gateway.ts';

const origin = 'http://127.0.0.1:8080';
const connected = { name: 'devnet', state: 'connected', peers: 12, since: null, problem: null };

/** Each test has a file of its own, because all tests of this file share one storage. */
let files = 0;
let records: Records;

beforeAll(() => {
  records = new Map();
});

/** A gateway whose peers look for a file until the test releases them. */
async function startSlow(deployment: Deployment = deploymentAt(origin), isLookup = true) {
  const { address } = await encryptedFile(noise(3_000, ++files), records);
  const network = new Network(records);
  const gateway = startGateway(deployment, { network });
  onTestFinished(() => gateway.close());
  let release!: (failure?: Error) => void;
  const released = new Promise<void>((resolve, reject) => {
    release = (failure) => {
      network.looksFor = [];
      if (failure) reject(failure);
      else resolve();
    };
  });
  released.catch(() => undefined);
  network.state = connected;
  network.beforeAnswer = () => released;
  if (isLookup) network.looksFor = [address];
  const path = `${deployment.base}${address.hex}`;
  const ask = async (
    as: Parameters<typeof requestOf>[2],
    headers: Record<string, string> = {},
    rest = '',
  ) => {
    const request = requestOf(origin + path + rest, { headers }, as);
    // A page of the gateway navigates.
    Object.defineProperty(request, 'referrer', { value: `${origin}/` });
    return (await gateway.handle(request, contextOf(origin)))!;
  };
  return { address, network, gateway, ask, release };
}

const waited = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const asScript = { 'Antway-As-Data': 'progress' };

function unfound({ hex }: Address): AntwayError {
  const message = 'No peer found this record in time.';
  return new AntwayError('PEERS_UNREACHABLE', message, { address: hex, attempts: [] });
}

describe('a navigation for which peers look for long', () => {
  beforeEach(startFastTime);

  it.each([
    ['en', en],
    ['de', de],
  ])('gets a page that says what it waits for (%s)', async (language, texts) => {
    const { address, ask, release } = await startSlow();
    const response = await ask('document', { 'Accept-Language': language });
    release();
    expect(response.status).toBe(503);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-language': language,
      'content-type': 'text/html; charset=utf-8',
    });
    const text = await response.text();
    for (const part of [
      texts.progress.title,
      address.hex,
      'https://peer.example',
      texts.network.connected('devnet', 12),
      `<a href="/">${texts.progress.cancel}</a>`,
      '<noscript><meta http-equiv="refresh" content="5"></noscript>',
    ]) {
      expect(text).toContain(part);
    }
    const [, script] = /<script>(.*?)<\/script>/.exec(text)!;
    const hash = createHash('sha256').update(script!).digest('base64');
    const policy = response.headers.get('content-security-policy')!.split('; ');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        `script-src 'sha256-${hash}'`,
        "connect-src 'self'",
        "frame-ancestors 'self'",
      ]),
    );
  });

  it('opens after the request of the page’s script, and no peer is asked twice', async () => {
    const { address, network, ask, release } = await startSlow();
    expect((await ask('document')).status).toBe(503);
    const asking = ask('fetch', asScript);
    await waited(100);
    release();
    const answer = await asking;
    // All bytes of a small file, so that the navigation after it finds them stored.
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBe(3_000);
    const response = await ask('document');
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBe(3_000);
    expect(network.asked.filter((hex) => hex === address.hex)).toEqual([address.hex]);
  });

  it('gets the error of the page’s script at once, and the next navigation asks again', async () => {
    const { address, network, ask, release } = await startSlow();
    expect((await ask('document')).status).toBe(503);
    const asking = ask('fetch', asScript);
    await waited(100);
    release(unfound(address));
    expect((await asking).status).toBe(504);
    network.beforeAnswer = async () => undefined;
    const asked = network.asked.length;
    const failed = await ask('document');
    expect(failed.status).toBe(504);
    expect(await failed.text()).toContain(en.network.connected('devnet', 12));
    expect(network.asked).toHaveLength(asked);
    expect((await ask('document')).status).toBe(200);
  });

  it('gets the error of its own work if the browser runs no scripts', async () => {
    const { address, ask, release } = await startSlow();
    expect((await ask('document')).status).toBe(503);
    release(unfound(address));
    await waited(100);
    expect((await ask('document')).status).toBe(504);
  });

  it('waits as long as the page asks, and asks no peer any more after that', async () => {
    const { address, network, ask, release } = await startSlow();
    expect((await ask('document')).status).toBe(503);
    for (let asked = 0; asked < 2; asked++) {
      const answer = await ask('fetch', asScript);
      expect([answer.status, answer.headers.get('Antway-Waiting')]).toEqual([503, '1']);
      expect(network.aborted).not.toContain(address.hex);
    }
    expect(network.asked.filter((hex) => hex === address.hex)).toEqual([address.hex]);
    await vi.waitFor(() => expect(network.aborted).toContain(address.hex), 2 * limits.progressMs.goOn);
    release();
  });

  it('shows the whole time that the user has waited, also after another navigation', async () => {
    const { ask, release } = await startSlow();
    const seconds = async () => {
      const [, shown] = /<span id="seconds">(\d+)/.exec(await (await ask('document')).text())!;
      return Number(shown);
    };
    expect(await seconds()).toBe(1);
    expect((await ask('fetch', asScript)).status).toBe(503);
    // The first page has asked for 5 s, and each navigation has waited for 1 s.
    expect(await seconds()).toBeGreaterThanOrEqual(7);
    release();
  });

  it.each(['?download', '?format=raw', '/setup.exe', '/data.zip'])(
    'gets the file and no page if the browser saves it (%s)',
    async (rest) => {
      const { ask, release } = await startSlow();
      const asking = ask('document', {}, rest);
      const isAnswered = vi.fn();
      void asking.then(isAnswered);
      await waited(limits.progressMs.first + 2 * limits.progressMs.next);
      expect(isAnswered).not.toHaveBeenCalled();
      release();
      await asking;
    },
  );

  it('is not recorded as a visit', async () => {
    const { address, gateway, ask, release } = await startSlow();
    expect((await ask('document')).status).toBe(503);
    release();
    await waited(300);
    const listing = requestOf(`${origin}/-/sites`, {}, 'fetch');
    const { sites } = await (await gateway.handle(listing, contextOf(origin)))!.json();
    expect(sites.map((site: { address: string }) => site.address)).not.toContain(address.hex);
  });
});

describe('an answer that takes long', () => {
  beforeEach(startFastTime);

  it.each<[Parameters<typeof requestOf>[2], Record<string, string>]>([
    ['fetch', {}],
    ['fetch', { Accept: 'text/html' }],
    ['iframe', {}],
    ['object', {}],
    ['embed', {}],
  ])(
    'is waited for by a request of a page, which does not get the progress page: %s %j',
    async (as, headers) => {
      const { ask, release } = await startSlow();
      const asking = ask(as, headers);
      await waited(limits.progressMs.first + 2 * limits.progressMs.next);
      release();
      expect((await asking).status).toBe(200);
    },
  );

  it('tells a script that sends the header of the progress page neither peers nor networks', async () => {
    const { ask, release } = await startSlow();
    const response = await ask('fetch', asScript);
    expect(response.status).toBe(503);
    expect(await response.text()).toBe('');
    const headers = JSON.stringify([...response.headers]);
    for (const part of ['peer.example', connected.name]) expect(headers).not.toContain(part);
    release();
  });

  it('is waited for by a navigation if no peer looks for a record', async () => {
    const { ask, release } = await startSlow(deploymentAt(origin), false);
    const asking = ask('document');
    await waited(limits.progressMs.first + 2 * limits.progressMs.next);
    release();
    expect((await asking).status).toBe(200);
  });

  it('is waited for by a navigation on a site that embeds the gateway', async () => {
    const { ask, release } = await startSlow(embeddedAt(origin, '/ant/', '/antway-sw.js'));
    const asking = ask('document');
    await waited(limits.progressMs.first + 2 * limits.progressMs.next);
    release();
    expect((await asking).status).toBe(200);
  });
});

test('a request of a page waits for a lookup of a peer', { tags: 'full' }, async ({
  startPeer,
  openGateway,
}) => {
  const peer = await startPeer({ webTransport: 'none' });
  await using looking = await LookingPeer.start(peer, { isHeaderHidden: true });
  const address = await publish(Buffer.from('Dear reader'), peer);
  const gateway = await openGateway({ peers: [looking.url] });
  const answering = gateway.fetch(`/${address}`);
  await expect.poll(() => looking.busyAnswers, patient).toBeGreaterThan(1);
  looking.find();
  expect(await answering).toMatchObject({ status: 200, text: 'Dear reader' });
});
