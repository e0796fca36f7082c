import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { packTar, unpackTar } from 'modern-tar';
import { expectAccessible } from '../../support/accessibility.ts';
import { expect, type Gateway, openWithoutScripts, sceneOfFile, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { expectPin, pinAction } from '../../support/pins.ts';
import { noise, publish } from '../../support/publish.ts';
import { makeTarchive } from '../../support/tarchive.ts';
import { untilViewed } from '../../support/viewer.ts';
import { visitCounts } from '../../support/visits.ts';

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#c47d13"/></svg>';
const files = {
  'index.html':
    '<!doctype html><title>Low Tide &amp; sand</title><link rel="icon" href="icon.svg"><h1>Low Tide</h1>',
  'icon.svg': icon,
  'a.txt': 'shells',
};
const complete = { state: 'complete', activity: 'idle', problem: null } as const;
/** A peer that is not there. */
const nowhere = 'http://127.0.0.1:9';

const card = (page: Page) => page.locator('.imported');
const status = (page: Page) => page.getByRole('main').getByRole('status').first();

async function choose(page: Page, buffer: Buffer, name = 'Low Tide.antsite'): Promise<void> {
  await page
    .locator('input[name=import]')
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
}

const scene = sceneOfFile(async ({ startPeer, openGateway, openWorker }) => {
  const peer = await startPeer();
  const address = await publish(await makeTarchive(files), peer);
  const here = await openGateway({ peers: [peer.url] });
  await here.shell.goto(`${here.url}/${address}/`);
  await openWithoutScripts(here.shell);
  await expect(here.shell.getByRole('heading')).toHaveText('Low Tide');
  await visitCounts(here.shell);
  await here.shell.goto(`${here.url}/#library`);
  await pinAction(here.shell, address, 'pin');
  await expectPin(here.shell, address, complete);
  const row = here.shell.locator('.site-row');
  await row.getByRole('button', { name: /^More for/ }).click();
  const [download] = await Promise.all([
    here.shell.waitForEvent('download'),
    row.getByRole('button', { name: /^Export:/ }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('Low Tide - sand.antsite');
  const exported = readFileSync(await download.path());
  return { address, here, exported, there: await openWorker({ peers: [nowhere] }) };
});

test.describe('exports', () => {
  test.describe.configure({ timeout: 120_000 });
  let here: Gateway;
  let there: Gateway;
  let address: string;
  /** The exported site. */
  let exported: Buffer;

  test.beforeEach(async () => {
    ({ address, exported, here } = scene());
    there = await openFreshShell(scene().there, '#library');
  });

  async function changed(change: object, more: Record<string, Uint8Array> = {}): Promise<Buffer> {
    const members = await unpackTar(new Uint8Array(exported));
    const description = { ...JSON.parse(new TextDecoder().decode(members[0]!.data)), ...change };
    const entries = members.map(({ header, data }, i) => ({
      header,
      body: more[header.name] ?? (i === 0 ? new TextEncoder().encode(JSON.stringify(description)) : data!),
    }));
    return Buffer.from(
      await packTar(entries.map(({ header, body }) => ({ header: { ...header, size: body.length }, body }))),
    );
  }

  test('a file says its title and icon, is imported without a peer, and opens', {
    tag: '@full',
  }, async () => {
    const [first, second] = await unpackTar(new Uint8Array(exported));
    expect(JSON.parse(new TextDecoder().decode(first!.data))).toEqual({
      format: 'antway-site',
      version: 2,
      address,
      kind: 'archive',
      chunks: 4,
      bytes: expect.any(Number),
      title: 'Low Tide & sand',
      files: 3,
      size: expect.any(Number),
    });
    expect(second!.header.name).toBe('icon.png');

    const { shell } = there;
    await choose(shell, exported);
    await expect(card(shell)).toContainText('Low Tide & sand, 3 files.');
    await expect(card(shell)).toContainText(/\d+ B\. It is in your library now, and pinned\./);
    await expect(status(shell)).toHaveText('Low Tide & sand, 3 files.');
    await expect
      .poll(() =>
        card(shell)
          .locator('img')
          .evaluate((image: HTMLImageElement) => image.naturalWidth),
      )
      .toBe(96);
    await expectAccessible(shell, { schemes: ['light', 'dark'] });
    // The library knows the title before the site was opened.
    await expect(shell.locator('.site-row .site-title')).toHaveText('Low Tide & sand');
    await card(shell).getByRole('link', { name: 'Open' }).click();
    const content = await untilViewed(shell, `/${address}/`);
    await expect(content.getByRole('heading')).toHaveText('Low Tide');
  });

  test('a file of version 1 is imported', { tag: '@full' }, async () => {
    const members = await unpackTar(new Uint8Array(exported));
    const old = { format: 'antway-site', version: 1, address, kind: 'archive', chunks: 4, bytes: 1 };
    const body = new TextEncoder().encode(JSON.stringify(old));
    const file = await packTar([
      { header: { name: 'antway-site.json', size: body.length }, body },
      ...members.slice(2).map(({ header, data }) => ({ header, body: data! })),
    ]);
    await choose(there.shell, Buffer.from(file), 'old.tar');
    await expect(card(there.shell)).toContainText(`${address.slice(0, 8)}…${address.slice(-6)}, 4 chunks.`);
  });

  test('a dropped file, and a file that is opened on the start page, lead to the library', {
    tag: '@full',
  }, async ({ folder }) => {
    const { shell } = there;
    const path = join(folder, 'x.antsite');
    writeFileSync(path, exported);
    const session = await shell.context().newCDPSession(shell);
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      const data = { items: [], files: [path], dragOperationsMask: 1 };
      await session.send('Input.dispatchDragEvent', { type, x: 200, y: 300, data });
    }
    await expect(card(shell)).toContainText('Low Tide & sand, 3 files.');
    await card(shell).getByRole('button', { name: 'Close' }).click();
    await expect(card(shell)).toHaveCount(0);

    await shell.goto(there.url);
    await shell.locator('input[type=file]').first().setInputFiles(path);
    await expect(shell).toHaveURL(`${there.url}/#library`);
    await expect(card(shell)).toContainText('Low Tide & sand, 3 files.');
    // A manifest still opens as one, and says so if it is none.
    await shell.goto(there.url);
    await shell
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'x.ant', mimeType: 'application/octet-stream', buffer: Buffer.from('no') });
    await expect(shell.getByText('This is not a valid manifest')).toBeVisible();
  });

  test('anything else is not an Antway export, and nothing is stored', { tag: '@full' }, async () => {
    const { shell } = there;
    const enormous = Buffer.from(exported);
    enormous.write('77777777777', 124);
    for (const [name, buffer] of [
      ['noise', noise(1, 5000)],
      ['nothing', Buffer.alloc(0)],
      ['a page', Buffer.from('<script>alert(1)</script>')],
      ['a compressed bomb', deflateSync(Buffer.alloc(1_000_000))],
      ['a header of gigabytes', enormous],
      ['a description that is too long', await changed({ title: 'x'.repeat(100_000) })],
      ['another format', await changed({ format: 'zip' })],
    ] as const) {
      await choose(shell, Buffer.from(buffer));
      await expect(status(shell), name).toHaveText('This is not an Antway export. UNSUPPORTED');
      await choose(shell, await changed({ version: 99 }));
      await expect(status(shell), name).toContainText('another version of Antway');
    }
    await expect(shell.locator('.site-row')).toHaveCount(0);
    expect((await there.cache()).count).toBe(0);
  });

  test('a hostile file brings no markup, no drawing and no wrong chunk', async () => {
    const { shell } = there;
    const title = '\u202e<img src=x onerror="document.title=1">\u0007';
    const members = await unpackTar(new Uint8Array(exported));
    const wrong = members.at(-1)!;
    const file = await changed(
      { title, files: -5, size: 1e308, chunks: 2 ** 52 },
      {
        'icon.png': new TextEncoder().encode(icon.replace('<rect', '<script>document.title=2</script><rect')),
        [wrong.header.name]: new Uint8Array(wrong.data!.length),
      },
    );
    await choose(shell, file);
    await expect(card(shell)).toContainText('<img src=x onerror="document.title=1">, 3 chunks.');
    await expect(card(shell)).toContainText('1 part was wrong');
    await expect(card(shell).locator('img')).toHaveCount(0);
    for (const hidden of ['\u202e', '\u0007']) expect(await card(shell).textContent()).not.toContain(hidden);
    await expect(shell.locator('.site-row .site-title')).toHaveText('<img src=x onerror="document.title=1">');
    expect(await shell.title()).toContain('Antway');
    expect((await there.cache()).count).toBe(3);
  });

  test('the title of a file does not replace that of a site that was opened', { tag: '@full' }, async () => {
    const { shell } = here;
    await choose(shell, await changed({ title: 'Another name' }));
    await expect(card(shell)).toContainText('Another name, 3 files.');
    await expect(shell.locator('.site-row .site-title')).toHaveText('Low Tide & sand');
  });
});
