import type { Page } from '@playwright/test';
import { expect, type Gateway, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { anttpFixture, type Files, makeTarchive, memberHashes } from '../support/tar.ts';

let peer: PeerProcess;
let gateway: Gateway;

test.beforeEach(async ({ startPeer, openWorker }) => {
  peer = await startPeer();
  gateway = await openWorker({ peers: [peer.url] });
});

test.describe('an archive that AntTP made', () => {
  test('redirects from its address, and has its default documents, its routes and its listings', {
    tag: '@smoke',
  }, async () => {
    const { address, tar } = anttpFixture('tarchive_site');
    await peer.putFixture('anttp/tarchive_site');
    const page = await gateway.openPage(`/${address}`);
    expect(page.url()).toBe(`${gateway.url}/${address}/`);
    await expect(page.locator('body')).toHaveText('home');

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

  test('costs its record and its three chunks, however many members a page reads', {
    tag: '@full',
  }, async () => {
    const { address, tar } = anttpFixture('tarchive_many300');
    await peer.putFixture('anttp/tarchive_many300');
    const expected = await memberHashes(tar);
    expect(await servedHashes(gateway.shell, address, Object.keys(expected))).toEqual(expected);
    expect(await peer.chunksGiven()).toBe(4);
  });
});

test('an index may name members with spaces and beyond ASCII', { tag: '@full' }, async ({ folder }) => {
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
