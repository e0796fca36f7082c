import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { unpackTar } from 'modern-tar';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { listFolder } from '../../src/cli/folder.ts';
import { publishFile } from '../../src/publish/publish.ts';
import { expect, fetchIn, Gateway, openWithoutScripts, sceneOfFile, test } from '../support/chromium.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { codec, noise, publish } from '../support/publish.ts';
import { knownPeers } from '../support/publish-screen.ts';
import { untilViewed, viewed } from '../support/viewer.ts';
import { UploadGate } from './upload-gate.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Writes files below a folder. @returns the folder. */
function write(folder: string, files: Record<string, Uint8Array | string>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const files = {
  'index.html': '<!doctype html><title>Garden</title><h1>Garden</h1><img src="leaf.bin">',
  'leaf.bin': repeated(1, 9_000_000),
  'über uns/a b.txt': 'spaces and umlauts',
};

async function choose(page: Page, path: string, kind: 'folder' | 'files' = 'folder'): Promise<void> {
  await page.locator(`input[name=${kind}]`).setInputFiles(path);
}

const publishButton = (page: Page) => page.getByRole('button', { name: 'Publish', exact: true });

/** The text beside a label of the result. */
async function resultOf(page: Page, label: string): Promise<string> {
  const line = page.locator('.result-links > div').filter({ has: page.getByText(label, { exact: true }) });
  return (await line.locator('.result-text').textContent())!;
}

async function anotherProfile(browser: Browser): Promise<Page> {
  const other = await browser.newContext();
  return other.newPage();
}

async function expectSame(page: Page, root: string, expected: Record<string, Uint8Array | string>) {
  for (const [path, content] of Object.entries(expected)) {
    const bytes = Buffer.from(content as string);
    const answer = await fetchIn(page, root + path.split('/').map(encodeURIComponent).join('/'));
    expect([path, answer.status, answer.size, answer.sha256]).toEqual([
      path,
      200,
      bytes.length,
      sha256(bytes),
    ]);
  }
}

const letterBytes = Buffer.from('a letter');

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  // Another origin may only write with a token.
  const peer = await startPeer({ token: 'open sesame' });
  const letter = await publish(letterBytes);
  const gateway = await openWorker({ peers: [peer.url], names: { letter } });
  return { peer, gateway, withoutPeer: await openWorker({ peers: [] }) };
});

test.describe('publishing', () => {
  let peer: PeerProcess;
  let gateway: Gateway;
  let shell: Page;

  // Encryption takes as long as the machine's other work lets it.
  test.describe.configure({ timeout: 120_000 });

  test.beforeEach(async () => {
    peer = scene().peer;
    gateway = await openFreshShell(scene().gateway, '#publish');
    shell = gateway.shell;
  });

  test('a folder is published, and opens in another browser with every byte equal', { tag: '@full' }, async ({
    folder,
    browser,
  }) => {
    const site = write(join(folder, 'garden'), { ...files, '.git/config': 'private', '.DS_Store': 'x' });
    await choose(shell, site);
    const pick = shell.getByRole('region', { name: 'garden' });
    await expect(pick).toContainText('3 files, 9 MB');
    await expect(pick).toContainText('4 chunks');
    await expect(pick).toContainText('2 files are left out');

    await shell.getByLabel('Write token').fill('open sesame');
    await publishButton(shell).click();
    const done = shell.getByRole('region', { name: 'Published', exact: true });
    await expect(done).toContainText('3 files as', { timeout: 45_000 });
    await expect(done.getByRole('img', { name: 'QR code of the link' })).toBeVisible();

    // The very address that the command gives.
    const { entries } = await listFolder(write(join(folder, 'same'), files), []);
    const same = await publishFile(createTarchive(entries), {
      codec,
      sink: { store: async () => 'stored' },
    });
    const address = await resultOf(shell, 'Address');
    expect(address).toBe(same.address.hex);
    expect(await resultOf(shell, 'ant:// link')).toBe(`ant://${address}/`);

    const page = await anotherProfile(browser);
    await Gateway.open(gateway.host, page);
    await page.goto(await resultOf(shell, 'Link'));
    await openWithoutScripts(page);
    await expect(page.getByRole('heading')).toHaveText('Garden');
    await page.goto(gateway.url);
    await expectSame(page, `/${address}/`, files);
    await page.context().close();
  });

  test('a single file stays a file, with its name in the link', { tag: '@smoke' }, async ({ folder }) => {
    write(folder, { 'a letter.txt': 'Dear reader' });
    await choose(shell, join(folder, 'a letter.txt'), 'files');
    await shell.getByLabel('Write token').fill('open sesame');
    await publishButton(shell).click();
    const link = await resultOf(shell, 'Link');
    expect(link).toMatch(/\/[0-9a-f]{64}\/a%20letter\.txt$/);
    await shell.goto(link);
    await expect(shell.getByText('Dear reader')).toBeVisible();
  });

  test('the peer refuses a wrong token, and the upload continues with the right one', {
    tag: '@full',
  }, async ({ folder }) => {
    write(folder, { 'a.txt': 'something' });
    await choose(shell, join(folder, 'a.txt'), 'files');
    await shell.getByLabel('Write token').fill('wrong');
    await publishButton(shell).click();
    const alert = shell.getByRole('region', { name: 'Where to' }).getByRole('alert');
    await expect(alert).toContainText('REFUSED');
    await shell.getByLabel('Write token').fill('open sesame');
    await shell.getByRole('button', { name: 'Continue' }).click();
    await expect(shell.getByRole('region', { name: 'Published', exact: true })).toBeVisible();
  });

  test('a peer that takes no writes of this page is named with the option that its operator needs', {
    tag: '@full',
  }, async ({ folder, startPeer }) => {
    // It takes writes of programs, and of its own pages.
    const closed = await startPeer();
    write(folder, { 'a.txt': 'something' });
    await choose(shell, join(folder, 'a.txt'), 'files');
    await shell.getByLabel('Write token').fill('open sesame');
    await shell.getByLabel('Another peer').fill(closed.url);
    await publishButton(shell).click();
    const alert = shell.getByRole('region', { name: 'Where to' }).getByRole('alert');
    await expect(alert).toContainText('REFUSED');
    await expect(alert).toContainText(closed.url);
    await expect(alert).toContainText(`--allow-origin ${gateway.url}`);
    expect(storedFiles(closed.storeFolder)).toEqual([]);
  });

  test('without a valid peer nothing is sent, and the shell shows the reason', { tag: '@full' }, async ({
    folder,
  }) => {
    const before = storedFiles(peer.storeFolder);
    write(folder, { 'a.txt': 'something' });
    await choose(shell, join(folder, 'a.txt'), 'files');
    const targets = shell.getByRole('region', { name: 'Where to' });
    await knownPeers(shell).uncheck();
    await publishButton(shell).click();
    await expect(targets.getByRole('alert')).toHaveText('Choose a peer to upload to.');
    await shell.getByLabel('Another peer').fill('http://peer.example');
    await publishButton(shell).click();
    await expect(targets.getByRole('alert')).toContainText('Enter an https:// URL');
    await expect(shell.getByLabel('Another peer')).toBeFocused();
    expect(storedFiles(peer.storeFolder)).toEqual(before);
  });

  test('a private file opens by its link alone, and no peer has its map', { tag: '@full' }, async ({
    folder,
    browser,
  }) => {
    // No other test publishes it.
    const secretFiles = { ...files, 'diary.txt': 'Fog again.' };
    const site = write(join(folder, 'diary'), secretFiles);
    await choose(shell, site);
    await shell.getByLabel('Write token').fill('open sesame');
    await shell.getByRole('radio', { name: 'Private' }).check();
    await publishButton(shell).click();
    const done = shell.getByRole('region', { name: 'Published privately' });
    await expect(done).toBeVisible({ timeout: 45_000 });
    const link = await resultOf(shell, 'Private link');
    expect(link).toMatch(/\/#manifest\/[\w-]+$/);
    await expect(done).toContainText('in the library of this browser');

    const page = await anotherProfile(browser);
    await page.goto(link);
    await page.getByRole('button', { name: 'Open it' }).click();
    const content = await untilViewed(page, /^\/[0-9a-f]{64}\/$/);
    await expect(content.getByRole('heading')).toHaveText('Garden');
    const root = new URL(page.url()).hash.replace('#view=', '/');
    await page.goto(gateway.url);
    await expectSame(page, root, secretFiles);

    // The map's record, as a public publishing would have stored it, and the manifest that holds it.
    const { entries } = await listFolder(site, []);
    const chunks: string[] = [];
    const { record, address } = await publishFile(createTarchive(entries), {
      codec,
      isPrivate: true,
      sink: {
        async store(chunk) {
          chunks.push(chunk.address.hex);
          return 'stored';
        },
      },
    });
    const manifest = Buffer.from(new URL(link).hash.slice('#manifest/'.length), 'base64url');
    const stored = storedFiles(peer.storeFolder);
    expect(stored.length).toBeGreaterThanOrEqual(chunks.length);
    expect(chunks.every((chunk) => stored.some((path) => path.endsWith(chunk)))).toBe(true);
    for (const path of stored) {
      expect(path).not.toContain(address.hex);
      const bytes = readFileSync(path);
      expect(bytes.includes(Buffer.from(record))).toBe(false);
      expect(bytes.includes(manifest)).toBe(false);
    }
    const log = peer.log.join('\n');
    const host = gateway.host.log.join('\n');
    for (const secret of [address.hex, manifest.toString('base64url'), root.replaceAll('/', '')]) {
      expect(log).not.toContain(secret);
      expect(host).not.toContain(secret);
    }
    await page.context().close();

    // A user who loses the link finds it where it was published, by the folder's name.
    await shell.goto(`${gateway.url}/#library`);
    const row = shell.locator('.site-row').filter({ hasText: 'diary' });
    await expect(row).toContainText('Manifest on this device');
    await row.getByRole('link', { name: 'diary' }).click();
    await untilViewed(shell, root);
  });

  test('a cancelled upload continues where it stopped: each chunk is sent once', { tag: '@full' }, async ({
    folder,
  }) => {
    const site = write(join(folder, 'big'), { 'a.bin': repeated(3, 12 * 4_190_208) });
    const gate = await UploadGate.start(peer.url);
    await choose(shell, site);
    const targets = shell.getByRole('region', { name: 'Where to' });
    await knownPeers(shell).uncheck();
    await shell.getByLabel('Another peer').fill(gate.url);
    await shell.getByLabel('Write token').fill('open sesame');
    gate.holdAfter(6);
    await publishButton(shell).click();
    await gate.held;
    await shell.getByRole('button', { name: 'Cancel' }).click();
    await expect(targets).toContainText('Cancelled. Uploaded chunks stay at the peers.');
    gate.open();

    await shell.getByRole('button', { name: 'Continue' }).click();
    await expect(shell.getByRole('region', { name: 'Published', exact: true })).toBeVisible({
      timeout: 60_000,
    });
    const counts = [...gate.stored.values()];
    expect(counts.length).toBeGreaterThanOrEqual(13);
    expect(counts.filter((count) => count !== 1)).toEqual([]);
    await gate.stop();
  });

  test('a double click on Publish does not cancel the publication, although Cancel takes the place of Publish', {
    tag: '@full',
  }, async ({ folder }) => {
    await choose(shell, write(join(folder, 'big'), { 'a.bin': repeated(5, 12 * 4_190_208) }));
    await shell.getByLabel('Write token').fill('open sesame');
    await publishButton(shell).scrollIntoViewIfNeeded();
    const publishBox = (await publishButton(shell).boundingBox())!;
    const point = { x: publishBox.x + publishBox.width / 2, y: publishBox.y + publishBox.height / 2 };
    await shell.mouse.click(point.x, point.y);
    const cancel = shell.getByRole('button', { name: 'Cancel' });
    // Where the two buttons are depends on the size of the window.
    await cancel.evaluate((button, { x, y }) => {
      Object.assign(button.style, { position: 'fixed', left: `${x - 10}px`, top: `${y - 10}px` });
    }, point);
    await shell.mouse.down({ clickCount: 2 });
    await shell.mouse.up({ clickCount: 2 });
    await expect(shell.getByRole('region', { name: 'Published', exact: true })).toBeVisible({
      timeout: 60_000,
    });
  });
});

test.describe('choosing', () => {
  let shell: Page;

  test.beforeEach(async () => {
    ({ shell } = await openFreshShell(scene().withoutPeer, '#publish'));
  });

  const small = { 'index.html': '<h1>Here</h1>', 'b/c.txt': 'deeper' };

  test('a folder comes from the browser’s own picker, if the browser has one', async () => {
    await shell.evaluate(async () => {
      const root = await navigator.storage.getDirectory();
      const site = await root.getDirectoryHandle('site', { create: true });
      const put = async (folder: FileSystemDirectoryHandle, name: string, text: string) => {
        const file = await (await folder.getFileHandle(name, { create: true })).createWritable();
        await file.write(text);
        await file.close();
      };
      await put(site, 'index.html', '<h1>Here</h1>');
      await put(await site.getDirectoryHandle('b', { create: true }), 'c.txt', 'deeper');
      Object.assign(window, { showDirectoryPicker: async () => site });
    });
    await shell.getByRole('button', { name: 'Choose a folder…' }).click();
    await expect(shell.getByRole('region', { name: 'site' })).toContainText('2 files, 19 B');
  });

  test('a chosen folder replaces a dropped folder', { tag: '@full' }, async ({ folder }) => {
    const session = await shell.context().newCDPSession(shell);
    const files = [write(join(folder, 'dropped'), small)];
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      const data = { items: [], files, dragOperationsMask: 1 };
      await session.send('Input.dispatchDragEvent', { type, x: 200, y: 400, data });
    }
    await expect(shell.getByRole('region', { name: 'dropped' })).toContainText('2 files, 19 B');
    await shell.getByRole('button', { name: 'Choose something else' }).click();
    await choose(shell, write(join(folder, 'chosen'), { 'a.txt': 'only this' }));
    await expect(shell.getByRole('region', { name: 'chosen' })).toContainText('1 file, 9 B');
    await expect(shell.getByText('There is no index.html')).toBeVisible();
  });

  test('a file that is too small and a folder without files are refused with the reason', {
    tag: '@full',
  }, async ({ folder }) => {
    write(folder, { tiny: 'ab', 'e/.DS_Store': 'x' });
    await choose(shell, join(folder, 'tiny'), 'files');
    await shell.getByLabel('Another peer').fill('http://127.0.0.1:9');
    await publishButton(shell).click();
    await expect(shell.getByRole('alert')).toContainText('fewer than 3 bytes');
    await expect(shell.getByRole('alert')).toContainText('UNSUPPORTED');
    await shell.getByRole('button', { name: 'Choose something else' }).click();
    await choose(shell, join(folder, 'e'));
    await expect(shell.getByRole('alert')).toContainText('There are no files to publish.');
  });

  test('the tar and the chunks are saved for the network’s own tools', { tag: '@full' }, async ({
    folder,
  }) => {
    const site = write(join(folder, 'site'), small);
    await choose(shell, site);
    const { entries } = await listFolder(site, []);
    const archive = createTarchive(entries);

    const [tar] = await Promise.all([
      shell.waitForEvent('download'),
      shell.getByRole('button', { name: 'Save as a tar' }).click(),
    ]);
    expect(tar.suggestedFilename()).toBe('site.tar');
    expect(readFileSync(await tar.path())).toEqual(Buffer.from(await archive.read(0, archive.size)));

    const [saved] = await Promise.all([
      shell.waitForEvent('download'),
      shell.getByRole('button', { name: 'Save the chunks' }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe('site.chunks.tar');
    const chunks = new Map<string, Uint8Array>();
    const sink = {
      async store({ address, bytes }: { address: { hex: string }; bytes: Uint8Array }) {
        chunks.set(address.hex, bytes);
        return 'stored' as const;
      },
    };
    const { address } = await publishFile(archive, { codec, sink });
    const members = await unpackTar(readFileSync(await saved.path()));
    expect(new Map(members.map(({ header, data }) => [header.name, Buffer.from(data!)]))).toEqual(
      new Map([...chunks].map(([name, bytes]) => [name, Buffer.from(bytes)])),
    );
    expect(await resultOf(shell, 'Address')).toBe(address.hex);
  });

  test('the chunks of a private file are saved without its map, and the link opens them', {
    tag: '@full',
  }, async ({ folder, startPeer, startHost, browser }) => {
    const site = write(join(folder, 'diary'), small);
    await choose(shell, site);
    await shell.getByRole('radio', { name: 'Private' }).check();
    const [saved] = await Promise.all([
      shell.waitForEvent('download'),
      shell.getByRole('button', { name: 'Save the chunks' }).click(),
    ]);
    const link = await resultOf(shell, 'Private link');
    const region = shell.getByRole('region', { name: 'Or save to a file' });
    await expect(region).toContainText('in the library of this browser');

    const chunks: string[] = [];
    const { entries } = await listFolder(site, []);
    const { address, record } = await publishFile(createTarchive(entries), {
      codec,
      isPrivate: true,
      sink: {
        async store(chunk) {
          chunks.push(chunk.address.hex);
          return 'stored';
        },
      },
    });
    const tar = readFileSync(await saved.path());
    const members = await unpackTar(tar);
    expect(members.map(({ header }) => header.name).sort()).toEqual(chunks.sort());
    expect(tar.includes(Buffer.from(record))).toBe(false);
    await expect(region).not.toContainText(address.hex);

    const peer = await startPeer();
    for (const { header, data } of members) await peer.put(header.name, data!);
    const page = await anotherProfile(browser);
    const elsewhere = await Gateway.open(await startHost({ peers: [peer.url] }), page);
    const { hash } = new URL(link);
    await page.goto('about:blank');
    await page.goto(`${elsewhere.url}/${hash}`);
    await page.getByRole('button', { name: 'Open it' }).click();
    const content = await untilViewed(page, /^\/[0-9a-f]{64}\/$/);
    await expect(content.getByRole('heading')).toHaveText('Here');
    await page.context().close();

    await shell.goto(`${new URL(shell.url()).origin}/#library`);
    await expect(shell.locator('.site-row').filter({ hasText: 'diary' })).toContainText(
      'Manifest on this device',
    );
  });

  test('a text dropped on a field goes into the field, and the chosen files stay', { tag: '@full' }, async ({
    folder,
  }) => {
    await choose(shell, write(join(folder, 'site'), small));
    const field = shell.getByLabel('Another peer');
    await field.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await field.boundingBox())!;
    const session = await shell.context().newCDPSession(shell);
    const items = [{ mimeType: 'text/plain', data: 'https://peer.example:4433' }];
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      const data = { items, files: [], dragOperationsMask: 1 };
      await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
    }
    await expect(field).toHaveValue('https://peer.example:4433');
    await expect(shell.getByRole('region', { name: 'site' })).toContainText('2 files, 19 B');
  });

  test('a slowly read folder does not replace files that were chosen after it', { tag: '@full' }, async ({
    folder,
  }) => {
    await shell.evaluate(async () => {
      const slow = await (await navigator.storage.getDirectory()).getDirectoryHandle('slow', {
        create: true,
      });
      const file = await (await slow.getFileHandle('a.txt', { create: true })).createWritable();
      await file.write('from the slow one');
      await file.close();
      const released = new Promise<void>((resolve) => Object.assign(window, { release: resolve }));
      const entries = slow.entries.bind(slow);
      Object.assign(slow, {
        async *entries() {
          await released;
          yield* entries();
          Object.assign(window, { isRead: true });
        },
      });
      Object.assign(window, { showDirectoryPicker: async () => slow });
    });
    await shell.getByRole('button', { name: 'Choose a folder…' }).click();
    await expect(shell.getByText('Reading the folder …')).toBeVisible();
    await choose(shell, write(join(folder, 'quick'), small));
    const quick = shell.getByRole('region', { name: 'quick' });
    await expect(quick).toContainText('before compression');
    await shell.evaluate(() => {
      const seen = new Set<string>();
      const look = () => seen.add(document.getElementById('pick-heading')?.textContent ?? '');
      new MutationObserver(look).observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
      });
      Object.assign(window, { seen });
      (window as unknown as { release(): void }).release();
    });
    await shell.waitForFunction(() => 'isRead' in window);
    // The page shows the next choice after everything that followed from this one.
    await quick.getByRole('button', { name: 'Choose something else' }).click();
    await choose(shell, write(join(folder, 'last'), small));
    await expect(shell.getByRole('region', { name: 'last', exact: true })).toContainText(
      'before compression',
    );
    const seen = await shell.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
    expect(seen).toContain('last');
    expect(seen).not.toContain('slow');
  });
});

test('a file is published by WebTransport to a peer that has only pinned certificates', {
  tag: '@full',
}, async ({ folder, startPeer, openGateway }) => {
  const peer = await startPeer({ token: 'open sesame' });
  const { webTransport, certificateHashes } = peer.listening;
  const origin = `https://${new URL(webTransport!).host}`;
  const gateway = await openGateway({ peers: [`${origin}#sha-256=${certificateHashes.join(',')}`] });
  const { shell } = gateway;
  await shell.goto(`${gateway.url}/#publish`);
  write(folder, { 'large.bin': repeated(7, 9_000_000) });
  await choose(shell, join(folder, 'large.bin'), 'files');
  await shell.getByLabel('Write token').fill('wrong');
  await publishButton(shell).click();
  const alert = shell.getByRole('region', { name: 'Where to' }).getByRole('alert');
  await expect(alert).toContainText('REFUSED', { timeout: 45_000 });
  await shell.getByLabel('Write token').fill('open sesame');
  await shell.getByRole('button', { name: 'Continue' }).click();
  const done = shell.getByRole('region', { name: 'Published', exact: true });
  await expect(done).toBeVisible({ timeout: 45_000 });
  // The peer counts a request after its answer.
  await expect
    .poll(() => peer.metric('requests_total', { transport: 'webtransport', op: 'put', outcome: 'ok' }))
    .toBeGreaterThan(3);
  expect(await peer.metric('requests_total', { transport: 'http', op: 'put' })).toBe(0);
  const address = await resultOf(shell, 'Address');
  await expectSame(shell, `/${address}`, { '': repeated(7, 9_000_000) });
});

/** The chunks that a peer holds. */
function storedFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Bytes that are encrypted quickly: a piece of noise again and again. Every chunk of them is another. */
function repeated(seed: number, size: number): Buffer {
  return Buffer.alloc(size, noise(seed, 500_003));
}

test('links open in the viewer while a publication continues, and leaving asks first', {
  tag: '@full',
}, async ({ folder, startPeer }) => {
  const peer = await startPeer();
  const letter = await publish(letterBytes, peer);
  const { shell, url } = await openFreshShell(scene().gateway, 'letter', { peers: [peer.url] });
  await openWithoutScripts(shell);
  await shell.goto(`${url}/#publish`);
  const gate = await UploadGate.start(peer.url);
  try {
    await choose(shell, write(join(folder, 'site'), files));
    await knownPeers(shell).uncheck();
    await shell.getByLabel('Another peer').fill(gate.url);
    gate.holdAfter(1);
    await publishButton(shell).click();
    await gate.held;

    const navigation = shell.getByRole('navigation', { name: 'Screens' });
    const opened = async (click: Promise<void>) => {
      await click;
      await expect(viewed(shell).getByText('a letter')).toBeVisible();
      await shell.goBack();
    };
    await navigation.getByRole('link', { name: 'Library' }).click();
    await opened(shell.locator('.site-row').getByRole('link').click());
    await navigation.getByRole('link', { name: 'Open' }).click();
    await opened(shell.getByRole('region', { name: 'Last opened' }).getByRole('link').click());
    await opened(shell.getByRole('region', { name: 'Names', exact: true }).getByRole('link').click());
    await shell.getByRole('combobox', { name: 'Search or open an address' }).fill(letter);
    await opened(shell.getByRole('button', { name: 'Open', exact: true }).click());

    const [dialog] = await Promise.all([
      shell.waitForEvent('dialog'),
      shell.evaluate(() => void setTimeout(() => location.assign('/antway.json'))),
    ]);
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();

    gate.open();
    await navigation.getByRole('link', { name: 'Publish' }).click();
    await expect(shell.getByRole('region', { name: 'Published', exact: true })).toBeVisible({
      timeout: 60_000,
    });
    // Nothing is lost any more: a dialog would fail this.
    shell.on('dialog', (late) => late.dismiss());
    await shell.goto(`${url}/letter`);
    await expect(shell.getByText('a letter')).toBeVisible();
  } finally {
    await gate.stop();
  }
});

test('leaving asks first if a private link could not be stored', { tag: '@full' }, async ({ folder }) => {
  const { shell } = await openFreshShell(scene().withoutPeer, '#publish');
  await shell.evaluate(() => {
    const { fetch } = window;
    window.fetch = async (input, init) =>
      input === '/-/manifests' ? Promise.reject(new TypeError('No room.')) : fetch(input, init);
  });
  await choose(shell, write(join(folder, 'site'), { 'a.txt': 'something' }));
  await shell.getByRole('radio', { name: 'Private' }).check();
  await shell.getByRole('button', { name: 'Save the chunks' }).click();
  await expect(shell.getByRole('region', { name: 'Or save to a file' })).toContainText('Save this link');
  const [dialog] = await Promise.all([
    shell.waitForEvent('dialog'),
    shell.evaluate(() => void setTimeout(() => location.reload())),
  ]);
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
  const link = await resultOf(shell, 'Private link');
  expect(link).toContain('/#manifest/');

  // Another task of the same leaves it there.
  await Promise.all([
    shell.waitForEvent('download'),
    shell.getByRole('button', { name: 'Save as a tar' }).click(),
  ]);
  expect(await resultOf(shell, 'Private link')).toBe(link);

  const question = shell.getByRole('region', { name: 'The link would be lost' });
  await shell.getByRole('button', { name: 'Choose something else' }).click();
  await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await shell.keyboard.press('Enter');
  await expect(question).toHaveCount(0);
  expect(await resultOf(shell, 'Private link')).toBe(link);
  await shell.getByRole('button', { name: 'Choose something else' }).click();
  await question.getByRole('button', { name: 'Choose something else' }).click();
  await expect(shell.getByRole('button', { name: 'Choose a folder…' })).toBeVisible();
  await expect(question).toHaveCount(0);
});
