import { expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import type { Resolver } from '../../src/content/resolver.ts';
import { visitOf } from '../../src/gateway/state/note-visit.ts';
import type { Library } from '../../src/library/library.ts';
import { parseVisit, type Visit } from '../../src/library/visits.ts';
import { hrefOfSite } from '../../src/shell/site-href.ts';

const hex = 'aa'.repeat(32);

/** Notes a visit of a file of an archive. @returns the stored visits. */
async function visitsOf(path: string, isRead: boolean, name?: string): Promise<Visit[]> {
  const address = Address.fromHex(hex);
  const archive = { name, member: () => undefined };
  const resolver = { locate: async () => ({ content: { kind: 'archive', archive }, address }) };
  const library = { visits: { get: async () => undefined } };
  const visit = await visitOf(
    { address, name: undefined, root: `/${hex}`, path } as never,
    `/${hex}/${path}`,
    { source: memorySource(new Uint8Array(5)), etag: '"x"', headers: { 'Content-Type': 'text/markdown' } },
    { resolver: resolver as unknown as Resolver, library: library as unknown as Library },
    isRead,
  );
  return [visit];
}

it('a file in a reader has a visit with its path, and with the name of its archive as title', async () => {
  const [visit] = await visitsOf('docs/a%20b.md', true, 'Tide <notes>\u202e');
  expect(visit).toMatchObject({ path: `/${hex}/`, reader: 'docs/a%20b.md', title: 'Tide &lt;notes>' });
  expect(parseVisit(visit)).toEqual(visit);
  expect(hrefOfSite(visit!)).toBe(`/#read=${hex}/docs/a%20b.md`);
});

it('a visit without a reader, or with a path that is too long for one, opens the page again', async () => {
  for (const visits of [await visitsOf('a.md', false), await visitsOf(`${'d/'.repeat(2_000)}a.md`, true)]) {
    expect(visits).toMatchObject([{ path: `/${hex}/`, title: null }]);
    expect(visits[0]).not.toHaveProperty('reader');
    expect(hrefOfSite(visits[0]!)).toBe(`/${hex}/`);
  }
});

it('a page with a long title and a long icon has a visit that the library can restore', async () => {
  const page = `<!doctype html><title>${'🌊'.repeat(9_000)}</title><link rel="icon" href="${'i'.repeat(3_000)}">`;
  const address = Address.fromHex(hex);
  const resolver = { locate: async () => ({ content: { kind: 'file' }, address, isMutable: false }) };
  const visit = await visitOf(
    {
      address,
      name: undefined,
      root: `/${hex}`,
      path: '',
      query: new URLSearchParams(),
      search: '',
    } as never,
    `/${hex}/`,
    {
      source: memorySource(new TextEncoder().encode(page)),
      etag: '"x"',
      headers: { 'Content-Type': 'text/html; charset=utf-8' },
    },
    { resolver: resolver as unknown as Resolver, library: {} as Library },
  );
  expect([visit]).toMatchObject([{ title: '🌊'.repeat(1_000), icon: null }]);
  expect(parseVisit(visit)).toEqual(visit);
});
