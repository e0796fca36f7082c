import type { Page } from '@playwright/test';
import { expect, type Gateway, sceneOfFile, test } from '../support/chromium.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';
import { Outside } from './hostile-site.ts';

const group = 'Navigations of other websites';

const absent = 'ab'.repeat(32);

interface Scene {
  peer: PeerProcess;
  gateway: Gateway;
  outside: Outside;
}

const scene = sceneOfFile<Scene>(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const gateway = await openWorker({ peers: [peer.url] });
  return { peer, gateway, outside: await Outside.start() };
});

test.afterAll(async () => {
  await scene()?.outside[Symbol.asyncDispose]();
});

/** A new page of another website. */
async function openOutside(): Promise<Page> {
  const { gateway, outside } = scene();
  const page = await gateway.shell.context().newPage();
  await page.goto(outside.url);
  return page;
}

/** Leads a page of another website to a path of the gateway. @returns the heading of the page that replaces it. */
async function lead(path: string): Promise<string> {
  const page = await openOutside();
  await page.evaluate((url) => void location.assign(url), scene().gateway.url + path);
  await page.waitForURL((url) => url.origin === scene().gateway.url);
  const heading = await page.getByRole('heading', { level: 1 }).textContent();
  await page.close();
  return heading!;
}

attack(
  group,
  'leads its own window to endpoints that answer with a file if a site or a manifest is stored',
  'The same page replaces the website in each case, and nothing is saved.',
  async () => {
    const { peer, gateway } = scene();
    const stored = await publish(
      await makeTarchive({ 'index.html': '<title>Stored</title>', 'a.txt': 'a' }),
      peer,
    );
    expect((await gateway.fetch(`/${stored}/a.txt`)).status).toBe(200);
    expect(
      (
        await gateway.fetch(`/-/pins`, {
          method: 'POST',
          body: JSON.stringify({ address: stored, action: 'pin' }),
        })
      ).status,
    ).toBe(200);
    await expect.poll(async () => (await gateway.fetch(`/-/export?address=${stored}`)).status).toBe(200);
    const manifest = await gateway.shell.evaluate(
      async (bytes) =>
        (
          (await (await fetch('/-/manifests', { method: 'POST', body: new Uint8Array(bytes) })).json()) as {
            id: string;
          }
        ).id,
      [...(await makePrivateManifest('Private', { 'a.txt': 'private' }, peer))],
    );
    const saved: string[] = [];
    gateway.shell.context().on('page', (page) => page.on('download', (file) => saved.push(file.url())));
    const paths = (address: string, id: string) => [
      `/-/export?address=${address}`,
      `/-/files?address=${address}`,
      `/-/files?address=${address}&path=a.txt`,
      `/-/manifests?id=${id}`,
    ];
    const headings = [];
    for (const path of [...paths(stored, manifest), ...paths(absent, absent)])
      headings.push(await lead(path));
    expect(new Set(headings)).toEqual(new Set(['This request was refused']));
    expect(saved).toEqual([]);
  },
);

attack(
  group,
  'leads its own window to a file that the browser saves, to learn whether it is stored',
  'A page of the gateway replaces the website, whether the file is stored or not.',
  async () => {
    const { peer, gateway } = scene();
    const stored = await publish(Buffer.from('Stored before, by the user.'), peer);
    const zip = await publish(
      await makeTarchive({ 'index.html': '<title>Zip</title>', 'x.bin': Buffer.alloc(50) }),
      peer,
    );
    for (const path of [`/${stored}`, `/${zip}/x.bin`]) expect((await gateway.fetch(path)).status).toBe(200);
    // Browsers save many types of texts and images. The path behind the address of a file is its name.
    const names = ['/x.ics', '/x.rtf', '/x.tsv', '/x.tiff', '/x.heic', '/x.mid', '/x.pdf'];
    const saving = 'Your browser saves this file';
    for (const path of ['?download', '?download&filename=a.zip', '?format=raw', ...names]) {
      expect(await lead(`/${stored}${path}`), path).toBe(saving);
      expect([saving, 'Not found'], path).toContain(await lead(`/${absent}${path}`));
    }
    // Only its content tells that it will be saved.
    expect(await lead(`/${zip}/x.bin`)).toBe(saving);
  },
);

attack(
  group,
  'frames content, by a referrer and without one, so that the worker fetches and stores it',
  'The worker refuses the frame before it reads anything.',
  async () => {
    const { peer, gateway } = scene();
    const large = await publish(Buffer.alloc(2_000_000, 'x'), peer);
    await gateway.settled();
    const before = await gateway.cache();
    const page = await openOutside();
    for (const policy of ['no-referrer', 'origin', 'unsafe-url']) {
      await page.evaluate(
        ([src, policy]) =>
          new Promise<void>((resolve) => {
            const frame = document.createElement('iframe');
            frame.referrerPolicy = policy as ReferrerPolicy;
            frame.addEventListener('load', () => resolve());
            frame.src = src!;
            document.body.append(frame);
          }),
        [`${gateway.url}/${large}/x.txt`, policy],
      );
    }
    await gateway.settled();
    expect(await gateway.cache()).toEqual(before);
  },
);

attack(
  group,
  'leads its own window to content and stops that at once, again and again, so that the worker fetches and stores it',
  'After two navigations, a page of the gateway replaces the website before the worker asks any peer.',
  async ({ openWorker }) => {
    const asked = new Set<string>();
    // Asked for a chunk, it does not answer, so that the website has time to stop.
    await using slow = await LoopbackServer.start((request, response) => {
      const [, address] = /^\/chunk\/(\w{64})/.exec(request.url!) ?? [];
      if (address) asked.add(address);
      else response.writeHead(404).end();
    });
    const gateway = await openWorker({ peers: [slow.url] });
    const page = await gateway.shell.context().newPage();
    await page.goto(scene().outside.url);
    const addresses = ['1', '2', '3', '4'].map((digit) => digit.repeat(64));
    const hasLeft = () => page.url().startsWith(gateway.url);
    for (const address of addresses) {
      await page.evaluate((url) => void location.assign(url), `${gateway.url}/${address}/x.txt`);
      await expect.poll(() => asked.has(address) || hasLeft()).toBe(true);
      if (hasLeft()) break;
      // On a slow machine, the page that shows the progress comes first.
      await page.evaluate(() => stop()).catch(() => undefined);
    }
    await expect.poll(hasLeft).toBe(true);
    expect([...asked]).not.toContain(addresses[3]);
    await page.close();
  },
);

attack(
  group,
  'leads the user to a listing whose names and title contain marks that change the direction of text',
  'The page shows a replacement for each mark.',
  async () => {
    const { peer, gateway } = scene();
    const site = await publish(
      await makeTarchive({ 'invoice\u202efdp.exe': 'x', '\u2066folder/a.txt': 'a' }),
      peer,
    );
    for (const path of ['', '%E2%81%A6folder/']) {
      const page = await gateway.openPage(`/${site}/${path}`);
      const text = `${await page.title()} ${await page.locator('body').textContent()}`;
      expect(text).toMatch(/\ufffd/);
      expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    }
  },
);

attack(
  group,
  'leads the user to the app with texts in which marks change the direction',
  'The app shows the texts without the marks: of paths, names, links and private manifests.',
  async () => {
    const { peer, gateway } = scene();
    const mark = encodeURIComponent('\u202e');
    const site = await publish(await makeTarchive({ 'a.txt': 'a' }), peer);
    const manifest = await makePrivateManifest('Pri\u202evate', { 'a.txt': 'text' }, peer);
    for (const [fragment, expected] of [
      [`read=${site}/none${mark}.txt`, /none.?\.txt/],
      [`url=${mark}abcdef`, /abcdef/],
      [`open=~na${mark}me`, /name/],
      [`text=${'ab'.repeat(32)}${mark}`, /(ab){32}/],
      [`manifest/${Buffer.from(manifest).toString('base64url')}`, /Pri.?vate/],
    ] as const) {
      const page = await gateway.openPage(`/#${fragment}`);
      const shown = () =>
        page.evaluate(() => {
          const values = Array.from(document.querySelectorAll('input'), ({ value }) => value);
          return [document.title, document.body.textContent, ...values].join(' ');
        });
      let text = '';
      await expect.poll(async () => (text = await shown().catch(() => '')), fragment).toMatch(expected);
      expect(text, fragment).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      await page.close();
    }
  },
);
