// @module-tag slow
// @module-tag unix
import { describe, expect } from 'vitest';
import { errorCode } from '../support/gateway-client.ts';
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
import { type NodeGateway, test, textsOf } from './support/node-gateway.ts';

let peer: PeerProcess;
let gateway: NodeGateway;

test.beforeEach(async ({ startPeer, openGateway }) => {
  peer = await startPeer({ webTransport: 'none' });
  gateway = await openGateway({ peers: [peer.url] });
});

describe('an archive that AntTP made', () => {
  for (const name of ['tarchive_site', 'tarchive_many300', 'tarchive_as_coded_2']) {
    test(`serves every member of ${name} byte for byte`, async () => {
      const { address, tar } = anttpFixture(name);
      await peer.putFixture(`anttp/${name}`);
      const expected = await memberHashes(tar);
      expect(Object.keys(expected).length).toBeGreaterThan(1);
      expect(await servedHashes(address, Object.keys(expected))).toEqual(expected);
    });
  }

  test('lists three hundred members', async () => {
    const { address } = anttpFixture('tarchive_many300');
    await peer.putFixture('anttp/tarchive_many300');
    const answer = await gateway.fetch(`/${address}/dir/?format=json`);
    expect(JSON.parse(answer.text)).toHaveLength(300);
  });

  test('costs its record and its three chunks, however many members a page reads', async () => {
    const { address, tar } = anttpFixture('tarchive_many300');
    await peer.putFixture('anttp/tarchive_many300');
    const expected = await memberHashes(tar);
    expect(await servedHashes(address, Object.keys(expected))).toEqual(expected);
    expect(await peer.chunksGiven()).toBe(4);
  });
});

test('the smallest possible file is served', async () => {
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

describe('an index', () => {
  const sizes = [
    { name: 'of more than 20 KB', members: 300, minBytes: 20_480 },
    { name: 'larger than the first 64 KiB that are read of the end', members: 1_200, minBytes: 65_536 },
    { name: 'larger than a chunk', members: 20_000, minBytes: 4_194_304 },
  ];
  for (const { name, members, minBytes } of sizes) {
    const tags = members > 10_000 ? 'full' : [];
    test(`${name} is read whole`, { tags }, async ({ folder }) => {
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
      expect(await servedHashes(address, sample)).toEqual(expected);
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
    expect(await servedHashes(address, Object.keys(files))).toEqual(expected);
    const decomposed = await gateway.fetch(`/${address}/${encodeURIComponent('cafe\u0301.txt')}`);
    expect(decomposed.text).toBe('asked for in another normal form');
    // A user gets there by the listing.
    const listing = (await gateway.fetch(`/${address}/`, { headers: { Accept: 'text/html' } })).text;
    expect(textsOf(listing, 'a')).toContain('żółw/');
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
    const { status, headers } = await gateway.open(`/${address}/docs`);
    expect([status, headers.location]).toEqual([301, `/${address}/docs/`]);
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
    const listing = await gateway.open(`/${address}/`);
    expect(textsOf(listing.text, 'li')).toEqual([
      '../up.txt: its path leads out of the archive',
      'far.txt: it lies outside the archive',
      'minus.txt: its offset or size is negative',
    ]);
  });
});

describe('a tar without an index', () => {
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
      expect(await servedHashes(address, paths)).toEqual(expected);
    });
  }
});

/** SHA-256 of what the gateway serves for each path of an archive; the status where that is not 200. */
async function servedHashes(address: string, paths: readonly string[]): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const path of paths) {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const { status, sha256 } = await gateway.fetch(`/${address}/${encoded}`);
    hashes[path] = status === 200 ? sha256 : `status ${status}`;
  }
  return hashes;
}
