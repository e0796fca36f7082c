// @module-tag isolated
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { createTar } from '../../src/archive/create-tar.ts';
import { headerBytes, recordBytes } from '../../src/library/backup/backup-header.ts';
import { faultOf } from '../../src/library/backup/backup-problem.ts';
import { BackupContent, encryptBackup } from '../../src/library/backup/backup-records.ts';
import { iterations } from '../../src/owner/iterations.ts';
import { OwnerStates } from '../../src/owner/states.ts';
import {
  type BackupDescription,
  type BackupFile,
  checkDescription,
  readContents,
  writeContents,
} from '../../src/shell/backup/backup-contents.ts';
import { strengthOf, suggestPassphrase } from '../../src/shell/backup/passphrase.ts';
import { bufferAccess } from '../../src/util/random-access.ts';

const passphrase = 'correct horse battery staple';
const encryptedRecordBytes = recordBytes + 16;
const [a, b] = ['aa'.repeat(32), 'bb'.repeat(32)] as const;
const now = 1_700_000_000_000;

/** Thousands of derivations would take minutes. The first test checks the real numbers of rounds. */
const real = { ...iterations };
Object.assign(iterations, { made: 1_000, least: 1_000 });

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const all: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of pieces) all.push(piece as Uint8Array<ArrayBuffer>);
  return new Uint8Array(await new Blob(all).arrayBuffer());
}

async function* piecesOf(bytes: Uint8Array, pieceBytes: number) {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

const encrypted = (content: Uint8Array, pieceBytes = 700_001) =>
  bytesOf(encryptBackup(passphrase, piecesOf(content, pieceBytes)));

/** Opens and verifies a file as the shell does. @returns its content. */
async function opened(file: Uint8Array<ArrayBuffer>, phrase = passphrase): Promise<Uint8Array> {
  const content = await BackupContent.open(new Blob([file]), phrase);
  await content.verify(() => undefined);
  return content.read(0, content.size);
}

const faultIn = (file: Uint8Array<ArrayBuffer>, phrase?: string) =>
  opened(file, phrase).then(
    () => 'no fault',
    (error) => faultOf(error) ?? String(error),
  );

function content(bytes: number, seed = 1): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bytes);
  for (let i = 0; i < bytes; i++) all[i] = (i * 31 + seed + (i >> 8)) & 255;
  return all;
}

/** Vitest compares large arrays slowly. */
const isEqual = (one: Uint8Array, two: Uint8Array) => Buffer.compare(one, two) === 0;

describe('an encrypted backup', () => {
  it('takes a number of rounds that OWASP recommends for PBKDF2 with SHA-256, within its bounds', () => {
    expect(real.least).toBeGreaterThanOrEqual(600_000);
    expect(real.made).toBeGreaterThanOrEqual(real.least);
    expect(real.made).toBeLessThanOrEqual(real.most);
  });

  it.each([0, 1, recordBytes - 1, recordBytes, recordBytes + 1, 2 * recordBytes])(
    'of %i bytes has the same content after it is decrypted',
    async (size) => {
      const original = content(size);
      const file = await encrypted(original);
      expect(file.length).toBe(headerBytes + size + 16 * Math.max(1, Math.ceil(size / recordBytes)));
      expect(isEqual(await opened(file), original)).toBe(true);
    },
  );

  it('can be read at any position', async () => {
    const original = content(2 * recordBytes + 500);
    const reader = await BackupContent.open(new Blob([await encrypted(original)]), passphrase);
    await fc.assert(
      fc.asyncProperty(fc.nat(original.length), fc.nat(3_000), async (start, length) => {
        const end = Math.min(start + length, original.length);
        expect(isEqual(await reader.read(start, end), original.subarray(start, end))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('shows nothing of its content, and differs each time', async () => {
    const text = 'a secret title '.repeat(50);
    const [one, two] = [
      await encrypted(new TextEncoder().encode(text)),
      await encrypted(new TextEncoder().encode(text)),
    ];
    expect(Buffer.from(one).includes('secret')).toBe(false);
    expect(one.subarray(headerBytes)).not.toEqual(two.subarray(headerBytes));
  });

  it('opens with the passphrase in another Unicode form, and with no other passphrase', async () => {
    const file = await bytesOf(encryptBackup('Grüße aus Köln', piecesOf(content(5), 5)));
    expect(await opened(file, 'Grüße aus Köln'.normalize('NFD'))).toEqual(content(5));
    expect(await faultIn(file, 'Grüße aus Köln ')).toBe('passphrase');
    expect(await faultIn(file, '')).toBe('passphrase');
  });

  it('is never opened after any bit of it was changed', async () => {
    const original = await encrypted(content(300));
    await fc.assert(
      fc.asyncProperty(fc.nat(original.length - 1), fc.nat(7), async (at, bit) => {
        const changed = original.slice();
        changed[at]! ^= 1 << bit;
        const fault = await faultIn(changed);
        if (at < 8) expect(fault).toBe('foreign');
        else if (at < headerBytes) expect(['newer', 'limits', 'passphrase']).toContain(fault);
        else expect(fault).toBe('modified');
      }),
      { numRuns: 60 },
    );
  });

  it('is never opened after it was cut', async () => {
    const original = await encrypted(content(2 * recordBytes + 300));
    await fc.assert(
      fc.asyncProperty(fc.nat(original.length - 1), async (length) => {
        const fault = await faultIn(original.slice(0, length));
        expect(length < 8 ? ['foreign'] : ['truncated', 'modified']).toContain(fault);
      }),
      { numRuns: 15 },
    );
    // Whole records are missing.
    expect(await faultIn(original.slice(0, headerBytes + encryptedRecordBytes))).toBe('truncated');
    expect(await faultIn(original.slice(0, headerBytes + 2 * encryptedRecordBytes))).toBe('truncated');
    expect(await faultIn(original.slice(0, headerBytes))).toBe('truncated');
  });

  it('is not opened with records in another order, twice, or with more behind them', async () => {
    const file = await encrypted(content(2 * recordBytes + 300));
    const record = (i: number) =>
      file.subarray(headerBytes + i * encryptedRecordBytes, headerBytes + (i + 1) * encryptedRecordBytes);
    const joined = async (...parts: Uint8Array<ArrayBuffer>[]) =>
      new Uint8Array(await new Blob([file.subarray(0, headerBytes), ...parts]).arrayBuffer());
    expect(await faultIn(await joined(record(1), record(0), record(2)))).toBe('modified');
    expect(await faultIn(await joined(record(0), record(0), record(1), record(2)))).toBe('modified');
    expect(await faultIn(await joined(record(0), record(2)))).toBe('modified');
    expect(await faultIn(await joined(record(0), record(1), record(2), content(100)))).toBe('modified');
  });

  it('is not opened with the records of another backup of the same passphrase', async () => {
    const [one, two] = [await encrypted(content(50)), await encrypted(content(50))];
    one.set(two.subarray(headerBytes), headerBytes);
    expect(await faultIn(one)).toBe('modified');
  });

  it.each([
    ['nothing', new Uint8Array(), 'foreign'],
    ['a text', new TextEncoder().encode('antway, but something else'), 'foreign'],
    ['a ZIP', new Uint8Array([0x50, 0x4b, 3, 4, ...new Uint8Array(500)]), 'foreign'],
  ] as const)('is not %s', async (_, file, fault) => {
    expect(await faultIn(file)).toBe(fault);
  });

  it.each([
    ['a newer version', 8, 2, 'newer'],
    ['another key derivation', 10, 7, 'newer'],
    ['another size of records', 11, 31, 'newer'],
  ] as const)('of %s is refused before a key is derived', async (_, at, value, fault) => {
    const file = await encrypted(content(5));
    file[at] = value;
    expect(await faultIn(file)).toBe(fault);
  });

  it.each([0, 1, iterations.least - 1, iterations.most + 1, 0xff_ff_ff_ff])(
    'that demands %i rounds is refused before a key is derived',
    async (rounds) => {
      const file = await encrypted(content(5));
      new DataView(file.buffer).setUint32(12, rounds, true);
      const startedAt = performance.now();
      expect(await faultIn(file)).toBe('limits');
      expect(performance.now() - startedAt).toBeLessThan(100);
    },
  );
});

const site = (address: string, change: object = {}) => ({
  ...{ address, path: `/${address}/`, name: null, title: 'Low Tide', icon: null, kind: 'archive' as const },
  ...{ lastOpened: now - 1, isPinned: false, isPrivate: false },
  ...change,
});

const pointer = (address: string, change: object = {}, ofKey: object = {}) => ({
  ...{ address, label: 'Garden', states: null },
  key: {
    ...{ iterations: 1_000_000, salt: '00'.repeat(16), nonce: '00'.repeat(12) },
    ...{ wrapped: '00'.repeat(48), deviceSecret: '00'.repeat(32), ...ofKey },
  },
  ...change,
});

const description = (change: Partial<BackupDescription> = {}): BackupDescription => ({
  ...{ createdAt: now, origin: 'http://127.0.0.1', theme: null, trusted: [], language: 'en' },
  ...{ sites: [site(a)], settings: {}, restricted: [], publications: [], pointers: [] },
  ...change,
});

async function* noFiles(): AsyncGenerator<BackupFile, void> {}

const written = async (change: object, files: AsyncIterable<BackupFile> = noFiles()) =>
  bufferAccess(await bytesOf(writeContents({ ...description(), ...change } as BackupDescription, files)));

const read = async (change: object, files?: AsyncIterable<BackupFile>) =>
  readContents(await written(change, files), 'https://gateway.example', now);

describe('the content of a backup', () => {
  it('is read as it was written, with its files', async () => {
    const sites = [site(a, { isPinned: true }), site(b, { isPrivate: true, title: null })];
    const publications = [{ id: a, title: 'Garden' }];
    const change = {
      sites,
      publications,
      trusted: [{ address: a, content: b }],
      settings: { names: { tide: a } },
    };
    const contents = await read(
      change,
      (async function* () {
        yield { kind: 'site', address: a, file: new Blob([content(2_500_000)]) };
        yield { kind: 'manifest', address: b, file: new Blob(['keys']) };
        yield { kind: 'publication', address: a, file: new Blob(['{}']) };
      })(),
    );
    expect(contents.description).toEqual(description(change));
    expect(contents.refused).toEqual([]);
    expect([contents.has('site', a), contents.has('site', b)]).toEqual([true, false]);
    expect(contents.siteBytes).toBe(2_500_000);
    const copied = new Uint8Array(await (await contents.get('site', a)).arrayBuffer());
    expect(isEqual(copied, content(2_500_000))).toBe(true);
    expect(await (await contents.get('manifest', b)).text()).toBe('keys');
    expect(await (await contents.get('publication', a)).text()).toBe('{}');
    await expect(contents.get('manifest', a)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each([
    ['a path of another origin', { path: '//evil.example/' }],
    ['a path of the gateway', { path: '/-/settings' }],
    ['an unknown kind', { kind: '__proto__' }],
    ['a time that is a text', { lastOpened: 'now' }],
    ['no manifest although it is private', { isPrivate: true }],
  ])('leaves out a site with %s, and takes the others', async (_, change) => {
    const { description, refused } = await read({ sites: [site(a, change), site(b)] });
    expect(description.sites.map(({ address }) => address)).toEqual([b]);
    expect(refused).toMatchObject([{ what: a }]);
  });

  it.each([
    ['a script', 'javascript:alert(1)'],
    ['a file of another origin', 'https://evil.example/a.png'],
    ['too long', `/${a}/${'i'.repeat(2_000)}`],
    ['no text', 5],
  ])('takes a site without its icon if that is %s', async (_, icon) => {
    const { description, refused } = await read({ sites: [site(a, { icon }), site(b)] });
    expect(description.sites.map(({ icon }) => icon)).toEqual([null, null]);
    expect(refused).toEqual([]);
  });

  it('takes sites with titles of any length, and cuts them', async () => {
    const sites = [2_001, 10_001].map((length, i) => site(i ? a : b, { title: 'T'.repeat(length) }));
    const { description, refused } = await read({ sites });
    expect(description.sites.map(({ title }) => title?.length)).toEqual([2_000, 2_000]);
    expect(refused).toEqual([]);
  });

  it('leaves out the settings past their limits, and takes the others', async () => {
    const many = (count: number, prefix: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, a]));
    const { description, refused } = await read({
      settings: {
        peers: Array.from({ length: 1_000 }, (_, i) => `https://p${i}.example`),
        names: many(1_001, 'n'),
        denied: new Array(10_002).fill(b),
        lists: many(102, 'L'),
        transport: 'http',
      },
    });
    const { peers, names, denied, lists, transport } = description.settings;
    expect([peers, Object.keys(names!), denied, Object.keys(lists!)].map((list) => list!.length)).toEqual([
      32, 1_000, 10_000, 100,
    ]);
    expect(transport).toBe('http');
    expect(refused.map(({ what }) => what)).toEqual(['peers', 'names', 'denied', 'lists']);
  });

  it('is checked before a backup is made of it', async () => {
    await checkDescription(description({ sites: [site(a, { isPrivate: true, title: 'T'.repeat(20_000) })] }));
    const trusted = new Array(10_001).fill({ address: a, content: a });
    await expect(checkDescription(description({ trusted }))).rejects.toMatchObject({ code: 'REFUSED' });
    const sites = new Array(10_001).fill(site(a));
    await expect(checkDescription(description({ sites }))).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('leaves out the second entry of an address', async () => {
    const { description, refused } = await read({ sites: [site(a), site(a, { title: 'Other' })] });
    expect(description.sites).toHaveLength(1);
    expect(refused).toHaveLength(1);
  });

  it('leaves out publications that are listed twice or whose file is missing, and takes the others', async () => {
    const publications = [a, a, b].map((id) => ({ id, title: 'Garden' }));
    const contents = await read(
      { publications },
      (async function* () {
        yield { kind: 'publication', address: a, file: new Blob(['{}']) };
      })(),
    );
    expect(contents.description.publications).toEqual([{ id: a, title: 'Garden' }]);
    expect(contents.refused.map(({ what }) => what)).toEqual([a, b]);
    const earlier = await read({ publications: undefined });
    expect(earlier.description.publications).toEqual([]);
  });

  it('takes pointers with their keys, and leaves out those that are listed twice or have the states of another', async () => {
    const noStates = (address: string) => OwnerStates.empty(Address.fromHex(address)).toJson();
    const pointers = [pointer(a, { states: noStates(a) }), pointer(a), pointer(b, { states: noStates(a) })];
    const { description, refused } = await read({ pointers });
    expect(description.pointers).toEqual(pointers.slice(0, 1));
    expect(refused.map(({ what }) => what)).toEqual([a, b]);
    const [named] = (await read({ pointers: [pointer(a, { label: '\u202eGar\nden'.padEnd(500, 'n') })] }))
      .description.pointers;
    expect(named!.label).toHaveLength(100);
    expect(named!.label).toMatch(/^Gar den+$/);
    expect((await read({ pointers: undefined })).description.pointers).toEqual([]);
  });

  it('takes a visit of a device whose clock is ahead as a visit of now', async () => {
    const { description } = await read({ sites: [site(a, { lastOpened: now + 86_400_000 })] });
    expect(description.sites[0]!.lastOpened).toBe(Math.min(now, description.sites[0]!.lastOpened!));
  });

  it.each([
    ['an invalid peer', { settings: { peers: ['javascript:alert(1)'] } }, 'BAD_CONFIG'],
    ['a setting that does not exist', { settings: { isolation: 'path' } }, 'BAD_CONFIG'],
    ['a prototype key', { settings: JSON.parse('{"__proto__": {"x": 1}}') }, 'BAD_CONFIG'],
    ['an invalid name', { settings: { names: { '../x': a } } }, 'BAD_CONFIG'],
    ['an invalid trusted site', { trusted: [{ address: '<b>', content: null }] }, 'REFUSED'],
    ['too many trusted sites', { trusted: new Array(10_001).fill({ address: a, content: a }) }, 'REFUSED'],
    ['sites that are no list', { sites: {} }, 'REFUSED'],
    ['a publication whose id is no address', { publications: [{ id: '../x', title: '' }] }, 'REFUSED'],
    ['too many publications', { publications: new Array(10_001).fill({ id: a, title: '' }) }, 'REFUSED'],
    ['a pointer without a key', { pointers: [pointer(a, { key: undefined })] }, 'REFUSED'],
    ['a pointer of no address', { pointers: [pointer('../x')] }, 'REFUSED'],
    ['a key of too many rounds', { pointers: [pointer(a, {}, { iterations: 5_000_001 })] }, 'REFUSED'],
    ['a key of too few rounds', { pointers: [pointer(a, {}, { iterations: 1 })] }, 'REFUSED'],
    ['a key of another length', { pointers: [pointer(a, {}, { wrapped: '00' })] }, 'REFUSED'],
    ['too many pointers', { pointers: new Array(1_001).fill(pointer(a)) }, 'REFUSED'],
    ['states that are too long', { pointers: [pointer(a, { states: ' '.repeat(1_000_001) })] }, 'REFUSED'],
    ['a long origin', { origin: 'x'.repeat(1_000) }, 'REFUSED'],
    ['another format', { format: 'antway-site' }, 'REFUSED'],
    ['a newer version', { version: 2 }, 'UNSUPPORTED'],
  ])('is refused as a whole with %s', async (_, change, code) => {
    await expect(read(change)).rejects.toMatchObject({ code });
  });

  it.each([
    ['no member', []],
    ['another first member', [{ path: `sites/${a}`, source: bufferAccess(content(5)) }]],
    ['a description that is not JSON', [{ path: 'antway-backup.json', source: bufferAccess(content(5)) }]],
  ])('is refused with %s', async (_, entries) => {
    const tar = createTar(entries);
    await expect(readContents(tar, 'https://gateway.example', now)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
  });

  it.each([
    ['of an unknown name', '../../etc/passwd', 'UNSUPPORTED'],
    ['in a folder that does not exist', `keys/${a}`, 'UNSUPPORTED'],
    ['that is the description again', 'antway-backup.json', 'CORRUPT'],
  ])('is refused with a file %s', async (_, path, code) => {
    const json = new TextEncoder().encode(
      JSON.stringify({ format: 'antway-backup', version: 1, ...description() }),
    );
    const tar = createTar([
      { path: 'antway-backup.json', source: bufferAccess(json) },
      { path, source: bufferAccess(content(5)) },
    ]);
    await expect(readContents(tar, 'https://gateway.example', now)).rejects.toMatchObject({ code });
  });

  it('is refused if its description is too large, before it is read', async () => {
    let mostRead = 0;
    const tar = createTar([
      {
        path: 'antway-backup.json',
        source: {
          size: 1e9,
          async read(start, end) {
            mostRead = Math.max(mostRead, end - start);
            return new Uint8Array(end - start);
          },
        },
      },
    ]);
    await expect(readContents(tar, 'https://gateway.example', now)).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
    expect(mostRead).toBe(0);
  });

  it('never has another error than one with a code, whatever the bytes are', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3_000 }), fc.nat(4_000), async (bytes, at) => {
        const whole = await (await written({})).read(0, 2_048);
        const mixed = new Uint8Array(Math.max(whole.length, at + bytes.length));
        mixed.set(whole);
        mixed.set(bytes, at);
        const outcome = await readContents(bufferAccess(mixed), 'https://gateway.example', now).catch(
          (error) => error,
        );
        if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'AntwayError' });
      }),
    ));
});

describe('a passphrase', () => {
  it.each([
    ['', 'short'],
    ['1234567', 'short'],
    ['12345678', 'weak'],
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'weak'],
    ['abcdefghijklmnop', 'weak'],
    ['password', 'weak'],
    ['tide7Shells', 'fair'],
    ['mellow crab sings at the harbour', 'strong'],
  ] as const)('“%s” is %s', (text, strength) => {
    expect(strengthOf(text)).toBe(strength);
  });

  it('that is suggested is strong, and different each time', () => {
    const all = new Set(Array.from({ length: 100 }, suggestPassphrase));
    expect(all.size).toBe(100);
    for (const each of all) expect(strengthOf(each), each).toBe('strong');
    expect([...all][0]).toMatch(/^([a-z2-9]{4}-){4}[a-z2-9]{4}$/);
  });
});
