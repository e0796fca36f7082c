import { describe, expect, it } from 'vitest';
import { Archive, type Member } from '../../src/content/archive.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import { RouteMap } from '../../src/content/route-map.ts';
import { limits } from '../../src/limits.ts';

const member = (path: string): Member => ({
  path,
  size: 0,
  modified: 0,
  load: async () => memorySource(new Uint8Array()),
});
const archive = (paths: string[], routes: Record<string, string> = {}, refused = [] as Archive['refused']) =>
  new Archive(paths.map(member), RouteMap.parse(JSON.stringify({ routeMap: routes })), refused);

describe('a path in an archive', () => {
  const site = archive(['index.html', 'a.txt', 'docs/guide.txt', 'blog/index.html', 'blog/2024/one.html']);

  it.each([
    ['', 'index.html'],
    ['a.txt', 'a.txt'],
    ['docs/guide.txt', 'docs/guide.txt'],
    ['blog/', 'blog/index.html'],
    ['blog/2024/one.html', 'blog/2024/one.html'],
  ])('“%s” leads to the member %s', (path, found) => {
    expect(site.find(path)).toMatchObject({ kind: 'member', member: { path: found } });
  });

  it.each([
    ['docs', 'docs/'],
    ['blog', 'blog/'],
    ['blog/2024', 'blog/2024/'],
  ])('“%s” without the slash of a folder leads to %s', (path, folder) => {
    expect(site.find(path)).toEqual({ kind: 'redirect', path: folder });
  });

  it('of a folder without index.html leads to the folder’s listing', () => {
    expect(site.find('docs/')).toMatchObject({
      kind: 'folder',
      path: 'docs/',
      entries: [{ name: 'guide.txt' }],
    });
  });

  it.each(['A.txt', 'docs/guide', 'docs/guide.txt/', 'blog/2023/', '/', '/a.txt', 'docs//guide.txt', '..'])(
    '“%s” that does not exist leads nowhere, with the reason',
    (path) => {
      expect(site.find(path)).toEqual({ kind: 'missing', reason: 'it is not in the archive' });
    },
  );

  it('that was refused leads nowhere, with the reason', () => {
    const refused = [{ path: 'bad', reason: 'it lies outside the archive' }];
    expect(archive(['a'], {}, refused).find('bad')).toEqual({
      kind: 'missing',
      reason: 'it was refused: it lies outside the archive',
    });
  });

  it('finds members and folders in the other Unicode form, the exact one first', () => {
    const [nfc, nfd] = ['café', 'cafe\u0301'];
    for (const [kept, asked] of [
      [nfc, nfd],
      [nfd, nfc],
    ]) {
      const one = archive([`${kept}/${kept}.html`, `${kept}/index.html`]);
      expect(one.find(`${asked}/${asked}.html`)).toMatchObject({ member: { path: `${kept}/${kept}.html` } });
      expect(one.find(`${asked}/`)).toMatchObject({ member: { path: `${kept}/index.html` } });
      expect(one.find(asked!)).toMatchObject({ kind: 'redirect' });
      expect(archive([`${kept}/a`]).folder(`${asked}/`)).toMatchObject([{ name: 'a' }]);
    }
    const both = archive([nfc!, nfd!]);
    expect(both.find(nfc!)).toMatchObject({ member: { path: nfc } });
    expect(both.find(nfd!)).toMatchObject({ member: { path: nfd } });
  });

  it('that a route matches leads to the route’s target, before a member of that name', () => {
    const routed = archive(['app.html', 'blog/x'], { 'blog/*': 'app.html', gone: 'missing.html' });
    expect(routed.find('blog/x')).toMatchObject({ kind: 'member', member: { path: 'app.html' } });
    expect(routed.find('gone')).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('missing.html'),
    });
  });

  it('may have names that every JavaScript object has', () => {
    const odd = archive(['__proto__', 'constructor/toString']);
    expect(odd.find('__proto__')).toMatchObject({ kind: 'member' });
    expect(odd.find('constructor/')).toMatchObject({ kind: 'folder' });
    expect(odd.find('hasOwnProperty')).toMatchObject({ kind: 'missing' });
  });
});

describe('a folder', () => {
  it('lists folders first, then files, numbers in names by their value', () => {
    const entries = archive(['b10', 'b9', 'A', 'z/y/x', 'c/d', 'c/e']).folder('')!;
    expect(entries.map(({ kind, name }) => [kind, name])).toEqual([
      ['folder', 'c'],
      ['folder', 'z'],
      ['file', 'A'],
      ['file', 'b9'],
      ['file', 'b10'],
    ]);
    expect(archive(['z/y/x']).folder('z/y/')).toMatchObject([{ kind: 'file', name: 'x' }]);
  });

  it('is there at the root of an empty archive', () => {
    expect(archive([]).find('')).toEqual({ kind: 'folder', path: '', entries: [] });
  });
});

describe('a large archive', () => {
  it('of 100,000 files opens within seconds', () => {
    const paths = Array.from({ length: 100_000 }, (_, i) => `Folder ${i % 100}/Some file ${i}.html`);
    const startedAt = performance.now();
    const large = archive(paths);
    expect(large.find('Folder 7/Some file 99907.html')).toMatchObject({ kind: 'member' });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('whose paths name more folders than any has is TOO_LARGE instead of filling the memory', () => {
    const deep = (i: number) => `${i}/${'d/'.repeat(2000)}f`;
    const paths = Array.from({ length: limits.archiveFolders / 2000 + 1 }, (_, i) => deep(i));
    expect(() => archive(paths)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
    expect(archive([deep(0)]).find('0/')).toMatchObject({ kind: 'folder' });
  });
});
