import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/config.ts';
import { bookmarkFileOf, namesOfBookmarkFile } from '../../src/shell/settings/bookmark-file.ts';

const a = 'ab'.repeat(32);
const b = 'cd'.repeat(32);
const fileOf = (value: unknown) => new Blob([typeof value === 'string' ? value : JSON.stringify(value)]);
const read = (bookmarks: unknown, names = {}) =>
  namesOfBookmarkFile(fileOf({ version: 1, bookmarks }), names);
const bookmark = (label: unknown, address: unknown = a) => ({ id: 'x', label, address, addedAt: 1 });

describe('a bookmark file', () => {
  it('gives back the names that it was written from', async () => {
    const names = { docs: a, 'My.site_2': b };
    const file = bookmarkFileOf(names, 1_700_000_000_000);
    expect(JSON.parse(await file.text())).toMatchObject({
      version: 1,
      exportedAt: 1_700_000_000_000,
      bookmarks: [
        { label: 'docs', address: a, addedAt: 1_700_000_000_000, id: expect.any(String) },
        { address: b },
      ],
    });
    expect(await namesOfBookmarkFile(file, {})).toEqual(names);
  });

  it.each([
    ['A label', 'A-label'],
    ['Größe & Café', 'Gro-e-Cafe'],
    ['日本語', 'bookmark'],
    ['', 'bookmark'],
    ['../../-/settings', 'settings'],
    ['<img src=x onerror=alert(1)>', 'img-src-x-onerror-alert-1'],
    ['\u202eevil', 'evil'],
    [b, 'bookmark'],
    ['constructor', 'bookmark'],
    ['__proto__', 'proto'],
    ['x'.repeat(10_000), 'x'.repeat(95)],
  ])('makes of the label %j the name %j', async (label, name) => {
    const names = await read([bookmark(label)]);
    expect(Object.entries(names!)).toEqual([[name, a]]);
    expect(parseSettings({ names }).names).toEqual(names);
  });

  it('keeps names that exist, and addresses that have a name', async () => {
    expect(await read([bookmark('docs', a), bookmark('docs', b.toUpperCase())], { docs: a })).toEqual({
      'docs-2': b,
    });
    expect(await read([bookmark('one'), bookmark('two')])).toEqual({ one: a });
  });

  it('leaves out invalid bookmarks', async () => {
    const broken = [null, 7, [], bookmark(7), bookmark('x', 'ab'), bookmark('x', null), { label: 'x' }];
    expect(await read([...broken, bookmark('good')])).toEqual({ good: a });
  });

  it.each<[string, unknown]>([
    ['no JSON', '{not json'],
    ['null', 'null'],
    ['another version', { version: 2, bookmarks: [] }],
    ['no version', { bookmarks: [] }],
    ['no list', { version: 1, bookmarks: {} }],
    ['more than 1 MiB', { version: 1, bookmarks: [], filler: 'x'.repeat(1024 * 1024) }],
  ])('with %s is refused', async (_, value) => {
    expect(await namesOfBookmarkFile(fileOf(value), {})).toBeUndefined();
  });

  it('never gives a name that the settings refuse', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), async (labels) => {
        const list = labels.map((label, i) => bookmark(label, i.toString(16).padStart(64, '0')));
        const names = (await read(list))!;
        expect(Object.keys(names)).toHaveLength(labels.length);
        expect(() => parseSettings({ names })).not.toThrow();
      }),
    );
  });
});
