import type { Page } from '@playwright/test';
import { errorCode, expect, type Gateway, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import {
  anttpFixture,
  appendToTar,
  type Files,
  indexOf,
  makeTar,
  makeTarchive,
  memberHashes,
  sha256,
  type TarFormat,
} from '../support/tar.ts';

let peer: PeerProcess;
let gateway: Gateway;

test.beforeEach(async ({ startPeer, openGateway }) => {
  peer = await startPeer();
  gateway = await openGateway({ peers: [peer.url] });
});

test.describe('an archive that AntTP made', () => {
  for (const name of ['tarchive_site', 'tarchive_many300', 'tarchive_as_coded_2']) {
    test(`serves every member of ${name} byte for byte`, async () => {
      const { address, tar } = anttpFixture(name);
      await peer.putFixture(`anttp/${name}`);
      const expected = await memberHashes(tar);
      expect(Object.keys(expected).length).toBeGreaterThan(1);
      expect(await servedHashes(gateway.shell, address, Object.keys(expected))).toEqual(expected);
    });
  }

  test('redirects from its address to the folder', async () => {
    const { address } = anttpFixture('tarchive_site');
    await peer.putFixture('anttp/tarchive_site');
    const page = await gateway.openPage(`/${address}`);
    expect(page.url()).toBe(`${gateway.url}/${address}/`);
    await expect(page.locator('body')).toHaveText('home');
  });

  test('has its default documents, its routes and its listings', async () => {
    const { address, tar } = anttpFixture('tarchive_site');
    await peer.putFixture('anttp/tarchive_site');
    const members = await memberHashes(tar);
    const sha256Of = async (path: string) => (await gateway.fetch(`/${address}/${path}`)).sha256;

    expect(await sha256Of('')).toBe(members['index.html']);
    expect(await sha256Of('sub/')).toBe(members['sub/index.html']);
    expect(await sha256Of('blog/any/post')).toBe(members['index.html']);
    const dangling = await gateway.fetch(`/${address}/missing/x`);
    expect(dangling.status).toBe(404);
    expect(dangling.text).toContain('nope.html');

    const folder = await gateway.openPage(`/${address}/assets`);
    expect(folder.url()).toBe(`${gateway.url}/${address}/assets/`);
    expect(await folder.getByRole('table').getByRole('link').allTextContents()).toEqual([
      '../ (up)',
      'img/',
      'style.css',
    ]);
    await folder.getByRole('link', { name: 'img/' }).click();
    await folder.getByRole('link', { name: 'a.svg' }).click();
    expect(folder.url()).toBe(`${gateway.url}/${address}/assets/img/a.svg`);

    const json = await gateway.fetch(`/${address}/assets/?format=json`);
    expect(JSON.parse(json.text)).toEqual([
      { path: 'assets/img/', display: 'img/', modified: 0, size: 0, path_type: 'DIRECTORY' },
      { path: 'assets/style.css', display: 'style.css', modified: 0, size: 15, path_type: 'FILE' },
    ]);
  });

  test('lists three hundred members', async () => {
    const { address } = anttpFixture('tarchive_many300');
    await peer.putFixture('anttp/tarchive_many300');
    const answer = await gateway.fetch(`/${address}/dir/?format=json`);
    expect(JSON.parse(answer.text)).toHaveLength(300);
  });

  test('costs its record and its three chunks, however many members a page reads', async () => {
    const { address, tar } = anttpFixture('tarchive_many300');
    await peer.putFixture('anttp/tarchive_many300');
    await servedHashes(gateway.shell, address, Object.keys(await memberHashes(tar)));
    expect(await peer.chunksGiven()).toBe(4);
  });
});

test('the smallest possible file is served', { tag: '@smoke' }, async () => {
  const { address } = anttpFixture('tiny3');
  await peer.putFixture('anttp/tiny3');
  expect(await gateway.fetch(`/${address}`)).toMatchObject({ status: 200, text: 'abc' });
});

test('the gateway also reads routes from app-config.json', async ({ folder }) => {
  const address = await publish(
    makeTarchive(folder, {
      'app-config.json': JSON.stringify({ routeMap: { '': 'start.html', 'posts/*': 'post.html' } }),
      'start.html': '<p>the start</p>',
      'post.html': '<p>one post for all</p>',
    }),
    peer,
  );
  expect((await gateway.fetch(`/${address}/`)).text).toBe('<p>the start</p>');
  expect((await gateway.fetch(`/${address}/posts/2024/x`)).text).toBe('<p>one post for all</p>');
});

test.describe('an index', () => {
  const sizes = [
    { name: 'of more than 20 KB', members: 300, minBytes: 20_480 },
    { name: 'larger than the first 64 KiB that are read of the end', members: 1_200, minBytes: 65_536 },
    { name: 'larger than a chunk', members: 20_000, minBytes: 4_194_304 },
  ];
  for (const { name, members, minBytes } of sizes) {
    test(`${name} is read whole`, async ({ folder }) => {
      const files: Files = {};
      for (let i = 0; i < members; i++) {
        const number = String(i).padStart(5, '0');
        const path = `folder-${i % 7}/${'long-name-'.repeat(14)}/${'long-name-'.repeat(6)}${number}.txt`;
        files[path] = `This is member ${number}.`;
      }
      const tar = makeTar(folder, { 'unlisted.txt': 'not in the index', ...files });
      const index = indexOf(tar, files);
      expect(index.length).toBeGreaterThan(minBytes);
      const address = await publish(appendToTar(folder, { 'archive.tar.idx': index }), peer);

      const paths = Object.keys(files);
      const sample = [0, 1, members >> 1, members - 2, members - 1].map((i) => paths[i]!);
      const expected = Object.fromEntries(sample.map((path) => [path, sha256(files[path]!)]));
      expect(await servedHashes(gateway.shell, address, sample)).toEqual(expected);
      const root = JSON.parse((await gateway.fetch(`/${address}/?format=json`)).text);
      expect(root).toHaveLength(7);
      // The headers, which are read where there is no index, would have told of it.
      expect((await gateway.fetch(`/${address}/unlisted.txt`)).status).toBe(404);
    });
  }

  test('may name members with spaces and beyond ASCII', async ({ folder }) => {
    const files: Files = {
      'two  spaces and 12 34': 'numbers at the end',
      'żółw/日本語 €.txt': 'not ASCII',
      'caf\u00e9.txt': 'asked for in another normal form',
      '100% #1?.txt': 'URL syntax',
    };
    const tar = makeTarchive(folder, files);
    const address = await publish(tar, peer);
    const expected = await memberHashes(tar);
    expect(Object.keys(expected)).toEqual(Object.keys(files));
    expect(await servedHashes(gateway.shell, address, Object.keys(files))).toEqual(expected);
    const decomposed = await gateway.fetch(`/${address}/${encodeURIComponent('cafe\u0301.txt')}`);
    expect(decomposed.text).toBe('asked for in another normal form');
    // A user gets there by the listing.
    const page = await gateway.openPage(`/${address}/`);
    await page.getByRole('link', { name: 'żółw/' }).click();
    await page.getByRole('link', { name: '日本語 €.txt' }).click();
    await expect(page.locator('body')).toHaveText('not ASCII');
  });

  test('of an appended archive lets the later line win', async ({ folder }) => {
    const first: Files = { 'index.html': '<p>the first edition</p>', 'old.txt': 'still here' };
    makeTarchive(folder, first);
    const second: Files = { 'index.html': '<p>the second edition</p>', 'new.txt': 'added later' };
    const tar = appendToTar(folder, second);
    const index = indexOf(tar, first) + indexOf(tar, second);
    const address = await publish(appendToTar(folder, { 'archive.tar.idx': index }), peer);
    expect((await gateway.fetch(`/${address}/`)).text).toBe('<p>the second edition</p>');
    expect((await gateway.fetch(`/${address}/old.txt`)).text).toBe('still here');
    expect((await gateway.fetch(`/${address}/new.txt`)).text).toBe('added later');
  });

  test('in the form of tarindexer, with a line for each folder, serves files and folders', async ({
    folder,
  }) => {
    const files: Files = { 'top.txt': 'at the top', 'docs/': '', 'docs/guide.txt': 'in a folder' };
    const tar = makeTarchive(folder, files, (tar) => {
      const top = indexOf(tar, { 'top.txt': 'at the top' });
      const guide = indexOf(tar, { 'docs/guide.txt': 'in a folder' });
      return `${top}docs ${tar.indexOf('docs/guide.txt')} 0\n${guide}`;
    });
    const address = await publish(tar, peer);
    expect((await gateway.fetch(`/${address}/top.txt`)).text).toBe('at the top');
    expect((await gateway.fetch(`/${address}/docs/guide.txt`)).text).toBe('in a folder');
    const listing = JSON.parse((await gateway.fetch(`/${address}/?format=json`)).text);
    expect(listing.map(({ path }: { path: string }) => path)).toEqual(['docs/', 'top.txt']);
    const page = await gateway.openPage(`/${address}/docs`);
    expect(page.url()).toBe(`${gateway.url}/${address}/docs/`);
  });

  test('names each invalid line with the reason, and serves the other members', async ({ folder }) => {
    const files: Files = { 'good.txt': 'a good member' };
    const tar = makeTarchive(
      folder,
      files,
      (tar) => `${indexOf(tar, files)}../up.txt 512 13\nfar.txt 99999999 5\nminus.txt -5 5\n`,
    );
    const address = await publish(tar, peer);
    expect((await gateway.fetch(`/${address}/good.txt`)).text).toBe('a good member');
    const far = await gateway.fetch(`/${address}/far.txt`);
    expect([far.status, errorCode(far)]).toEqual([404, 'NOT_FOUND']);
    expect(far.text).toContain('outside the archive');
    const listing = await gateway.openPage(`/${address}/`);
    await expect(listing.getByRole('listitem')).toHaveText([
      '../up.txt: its path leads out of the archive',
      'far.txt: it lies outside the archive',
      'minus.txt: its offset or size is negative',
    ]);
  });
});

test.describe('a tar without an index', () => {
  const long = `${'a long folder name '.repeat(7)}/${'a long file name '.repeat(6)}`;
  const formats: Record<TarFormat, string[]> = {
    ustar: ['short.txt', `${'p'.repeat(120)}/${'n'.repeat(90)}.txt`],
    gnu: ['short.txt', `${long}.txt`, 'żółw.txt'],
    pax: ['short.txt', `${long}.txt`, `${'ü'.repeat(100)}.txt`],
  };
  for (const [format, paths] of Object.entries(formats) as [TarFormat, string[]][]) {
    test(`in ${format} format is served by its headers`, async ({ folder }) => {
      const files = Object.fromEntries(paths.map((path, i) => [path, `member ${i} of a ${format} tar`]));
      const tar = makeTar(folder, { 'folder/': '', ...files }, format);
      const address = await publish(tar, peer);
      const expected = await memberHashes(tar);
      expect(Object.keys(expected)).toEqual(paths);
      expect(await servedHashes(gateway.shell, address, paths)).toEqual(expected);
    });
  }
});

/** SHA-256 of what the gateway serves for each path of an archive; the status where that is not 200. */
function servedHashes(
  page: Page,
  address: string,
  paths: readonly string[],
): Promise<Record<string, string>> {
  return page.evaluate(
    async ([address, paths]) => {
      const hashes: Record<string, string> = {};
      for (const path of paths) {
        const encoded = path.split('/').map(encodeURIComponent).join('/');
        const response = await fetch(`/${address}/${encoded}`);
        const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await response.arrayBuffer()));
        hashes[path] =
          response.status === 200
            ? Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
            : `status ${response.status}`;
      }
      return hashes;
    },
    [address, paths] as const,
  );
}
