import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseManifest, soleSource } from '../../src/content/manifest.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { decodeDataMap } from '../../src/self-encryption/data-map.ts';
import { manifestOfDataMap, pathOfDataMap } from '../../src/shell/open/data-map-file.ts';
import { fromRoot } from '../support/paths.ts';

const blake3 = await loadBlake3();
const folder = fromRoot('tests/fixtures/self-encryption');
const record = (name: string) => readFileSync(`${folder}/${name}.datamap.msgpack`);

/** As the older program wrote it. */
function jsonOf(name: string) {
  const { infos, child } = JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8')).data_map;
  return { chunk_identifiers: infos, child };
}
const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

describe('a data map file', () => {
  it.each(['b3', 'b1000', 'rand3max17', 'rand60mib'])(
    '%s becomes a manifest of one file, from both forms',
    (name) => {
      const expected = decodeDataMap(record(name))!;
      for (const bytes of [record(name), encode(jsonOf(name))]) {
        const source = soleSource(parseManifest(manifestOfDataMap(bytes)!, blake3));
        expect(source?.kind).toBe('embedded');
        if (source?.kind === 'embedded') expect(source.map.equals(expected)).toBe(true);
      }
    },
  );

  const { chunk_identifiers: chunks } = jsonOf('b3');
  it.each<[string, unknown]>([
    ['no object', null],
    ['a list', []],
    ['too few chunks', { chunk_identifiers: chunks.slice(1), child: null }],
    ['another order', { chunk_identifiers: chunks.toReversed(), child: null }],
    ['a short hash', { chunk_identifiers: [{ ...chunks[0], dst_hash: 'ab' }, ...chunks.slice(1)] }],
    ['a negative size', { chunk_identifiers: [{ ...chunks[0], src_size: -1 }, ...chunks.slice(1)] }],
    [
      'a size beyond a chunk',
      { chunk_identifiers: [{ ...chunks[0], src_size: 5_000_000 }, ...chunks.slice(1)] },
    ],
    ['a chunk that is null', { chunk_identifiers: [null, ...chunks.slice(1)] }],
    ['an impossible level', { chunk_identifiers: chunks, child: -1 }],
    ['a level that is a text', { chunk_identifiers: chunks, child: '1' }],
    ['an inherited list', JSON.parse('{"__proto__": {"chunk_identifiers": []}}')],
  ])('with %s is none', (_, value) => {
    expect(manifestOfDataMap(encode(value))).toBeUndefined();
  });

  it('of any bytes does not crash', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(manifestOfDataMap(bytes)).toBeUndefined();
      }),
    );
  });
});

it.each([
  ['photo.jpg.datamap', '/photo.jpg'],
  ['Grüße an Ada.pdf.datamap', '/Gr%C3%BC%C3%9Fe%20an%20Ada.pdf'],
  ['site.tar.datamap', '/'],
  ['notes.datamap', '/'],
  ['data.datamap.json', '/'],
  ['.datamap', '/'],
  ['../../x.html.datamap', '/'],
  ['a/../b.html.datamap', '/a..b.html'],
])('the file of %s is shown at %s', (filename, path) => {
  expect(pathOfDataMap(filename)).toBe(path);
});
