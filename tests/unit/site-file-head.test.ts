import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { createTar } from '../../src/archive/create-tar.ts';
import { AntwayError } from '../../src/errors.ts';
import {
  describeSite,
  descriptionName,
  iconName,
  isIcon,
  mostIconBytes,
  readSiteHead,
} from '../../src/library/site-file-head.ts';
import { bufferAccess, type RandomAccess } from '../../src/util/random-access.ts';
import { tar, tarMember } from './support/tar.ts';

const address = Address.fromHex('ab'.repeat(32));
const stored = { kind: 'archive', chunks: 4, bytes: 9_001 } as const;
const label = { title: 'Low Tide', files: 12, size: 12_345, icon: null };

function png(width: number, height: number, length = 64): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  new DataView(bytes.buffer).setUint32(16, width);
  new DataView(bytes.buffer).setUint32(20, height);
  return bytes;
}

function exported(description: unknown, icon?: Uint8Array): RandomAccess {
  const text = typeof description === 'string' ? description : JSON.stringify(description);
  return createTar([
    { path: descriptionName, source: bufferAccess(new TextEncoder().encode(text)) },
    ...(icon ? [{ path: iconName, source: bufferAccess(icon) }] : []),
  ]);
}

const valid = {
  format: 'antway-site',
  version: 2,
  address: address.hex,
  kind: 'archive',
  chunks: 4,
  bytes: 9_001,
};

it('an export says its title, files, size and icon', async () => {
  const icon = png(96, 96);
  const head = await readSiteHead(exported(describeSite(address, stored, label), icon));
  expect(head).toEqual({ ...stored, address, title: 'Low Tide', files: 12, size: 12_345, icon });
});

it('an export of version 1 is read without them', async () => {
  const { kind, chunks, bytes } = stored;
  const file = exported({ format: 'antway-site', version: 1, address: address.hex, kind, chunks, bytes });
  expect(await readSiteHead(file)).toEqual({
    ...stored,
    address,
    title: null,
    files: null,
    size: null,
    icon: null,
  });
});

it('every title comes back on one line, without control characters and marks of direction', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (title) => {
      const { title: read } = await readSiteHead(
        exported(describeSite(address, stored, { ...label, title })),
      );
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not appear
      expect(read ?? '').not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
      expect((read ?? '').isWellFormed()).toBe(true);
      expect(Array.from(read ?? '').length).toBeLessThanOrEqual(200);
    }),
  );
});

it('a title of plain letters comes back unchanged', async () => {
  const letters = fc.stringMatching(/^[a-zA-ZäöüßéЖ中😀<>&"']{1,50}$/u);
  await fc.assert(
    fc.asyncProperty(letters, async (title) => {
      expect((await readSiteHead(exported(describeSite(address, stored, { ...label, title })))).title).toBe(
        title,
      );
    }),
  );
});

it.each<[string, object]>([
  ['a title that is an object', { title: { toString: 'x' } }],
  ['a title of directions only', { title: '\u202e\u2066' }],
  ['a negative number of files', { files: -1 }],
  ['half a file', { files: 0.5 }],
  ['files in words', { files: '12' }],
  ['more bytes than a number holds', { size: 2 ** 60, bytes: 1e300 }],
  ['keys of every object', { constructor: 1, toString: 2, hasOwnProperty: 3 }],
])('leaves out %s', async (_, change) => {
  const head = await readSiteHead(exported({ ...valid, ...change }));
  expect(head).toMatchObject({ address, title: null, files: null, size: null });
});

it.each<[string, RandomAccess]>([
  ['no bytes', bufferAccess(new Uint8Array())],
  ['a text', bufferAccess(new TextEncoder().encode('no tar at all'.repeat(200)))],
  ['zeros', bufferAccess(new Uint8Array(4096))],
  ['another tar', bufferAccess(tar(tarMember({ name: 'a.txt' }, 'text')))],
  ['a description that is no JSON', exported('{')],
  ['a description that is null', exported('null')],
  ['another format', exported({ ...valid, format: 'x' })],
  ['a later version', exported({ ...valid, version: 3 })],
  ['a version of a prototype', exported({ ...valid, version: '__proto__' })],
  ['no address', exported({ ...valid, address: undefined })],
  ['an address that is a path', exported({ ...valid, address: '../../-/reset' })],
  ['a description of a megabyte', exported({ ...valid, title: 'x'.repeat(1_000_000) })],
])('%s is not an export', async (_, file) => {
  await expect(readSiteHead(file)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});

it('a member that claims exabytes is refused before anything is read for it', async () => {
  const header = tarMember({ name: descriptionName }, JSON.stringify(valid));
  const file = tar(header);
  // A size in base 256, as GNU writes it: 2^60.
  file.set([0x80, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0], 124);
  let read = 0;
  const counting: RandomAccess = {
    size: file.length,
    read: async (start, end) => {
      read += end - start;
      return file.subarray(start, end);
    },
  };
  await expect(readSiteHead(counting)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  expect(read).toBeLessThanOrEqual(512);
});

it.each<[string, Uint8Array]>([
  [
    'a drawing with a script',
    new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'),
  ],
  [
    'a drawing behind the start of a PNG',
    new Uint8Array([0x89, 0x50, 0x4e, 0x47, ...new TextEncoder().encode('<svg/>')]),
  ],
  ['a JPEG', new Uint8Array(100).fill(0xff, 0, 2)],
  ['a picture of more pixels than memory', png(60_000, 60_000)],
  ['a picture without pixels', png(0, 96)],
  ['a picture that is too large', png(96, 96, mostIconBytes + 1)],
  ['nothing', new Uint8Array()],
])('%s is no icon', async (_, icon) => {
  expect(isIcon(icon)).toBe(false);
  expect((await readSiteHead(exported(valid, icon))).icon).toBeNull();
});

it('random bytes and random changes are refused or read, and never fail otherwise', async () => {
  const original = exported(describeSite(address, stored, label), png(96, 96));
  const bytes = await original.read(0, original.size);
  const changes = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(changes, fc.nat(bytes.length), async (changes, length) => {
      const changed = Uint8Array.from(bytes.subarray(0, length));
      for (const [at, value] of changes) if (at < length) changed[at] = value;
      try {
        const { icon } = await readSiteHead(bufferAccess(changed));
        expect(icon === null || isIcon(icon)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(AntwayError);
        expect((error as AntwayError).code).toBe('UNSUPPORTED');
      }
    }),
    { numRuns: 500 },
  );
});
