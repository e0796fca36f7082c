// @module-tag isolated
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Address } from '../../src/address.ts';
import { parseSiteList } from '../../src/catalogue.ts';
import { combine, parseServerConfig, parseSettings } from '../../src/config.ts';
import { AntwayError } from '../../src/errors.ts';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { limits } from '../../src/limits.ts';
import type { ServerConfig } from '../../src/server-config.ts';
import { PointerOwner } from '../support/pointers.ts';
import { encryptedFile, type Records } from './support/encrypted-file.ts';
import { contextOf, Network, requestOf, startGateway } from './support/gateway.ts';
import { tarchive } from './support/tar.ts';

const address = 'ab'.repeat(32);
const other = 'CD'.repeat(32);
const entry = { title: 'Low Tide', address };

const bytesOf = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const parse = (value: unknown) => parseSiteList(bytesOf(value));

/** The code of the error and the key that it names. */
function refusalOf(work: () => unknown): [string, unknown] | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof AntwayError)) throw error;
    return [error.code, error.details.key];
  }
}

const badTitles = [
  '',
  '   ',
  'x'.repeat(101),
  'two\nlines',
  'a tab\t',
  'nul\0',
  'escape \x1b[31m',
  'right to left \u202Etxt.exe',
  'isolate \u2066',
  'line separator \u2028',
  7,
  null,
  ['Low Tide'],
];
const badPaths = [
  '',
  '/icon.svg',
  '//other.example/icon.svg',
  'https://other.example/icon.svg',
  'javascript:alert(1)',
  'data:image/svg+xml,',
  '../icon.svg',
  'a/../../icon.svg',
  'a/..',
  './icon.svg',
  '%2e%2e/icon.svg',
  'a\\..\\icon.svg',
  'icon.svg?query',
  'icon.svg#fragment',
  'a//b.svg',
  'a/',
  'ícon.svg',
  `${'a/'.repeat(11)}b`,
  'a'.repeat(101),
];

describe('a list of sites', () => {
  it('has titles, addresses, descriptions and pictures', () => {
    const entries = [
      { ...entry, description: 'A rocky shore', icon: 'assets/img/limpet.svg', cover: 'shore.svg' },
      { title: 'שפל', address: other },
    ];
    expect(parse(entries)).toEqual(entries);
    expect(parse([])).toEqual([]);
    expect(parse(`\n ${JSON.stringify([entry])} `)).toEqual([entry]);
  });

  it('keeps markup in a title as text', () => {
    const title = '<img src=x onerror=alert(1)> & “quotes”';
    expect(parse([{ ...entry, title }])).toEqual([{ ...entry, title }]);
  });

  it.each(badTitles.map((title) => [title]))('with the title %j is refused', (title) => {
    expect(refusalOf(() => parse([entry, { ...entry, title }]))).toEqual(['UNSUPPORTED', '[1].title']);
  });

  it.each(badPaths.map((icon) => [icon]))('with the icon %j is refused', (icon) => {
    expect(refusalOf(() => parse([{ ...entry, icon }]))).toEqual(['UNSUPPORTED', '[0].icon']);
    expect(refusalOf(() => parse([{ ...entry, cover: icon }]))).toEqual(['UNSUPPORTED', '[0].cover']);
  });

  it.each([
    ['no JSON', 'Low Tide'],
    ['the start of JSON', '[{"title":'],
    ['an object', { entries: [] }],
    ['null', 'null'],
    ['a text in place of an entry', ['Low Tide']],
    ['a list in place of an entry', [[]]],
    ['no address', [{ title: 'Low Tide' }]],
    ['an address of 63 digits', [{ ...entry, address: address.slice(1) }]],
    ['an address with a path', [{ ...entry, address: `${address}/..` }]],
    ['an unknown key', [{ ...entry, href: 'https://other.example' }]],
    ['a long description', [{ ...entry, description: 'x'.repeat(301) }]],
    ['a prototype', `[{"title":"a","address":"${address}","constructor":{"prototype":{}}}]`],
  ])('with %s is refused as a whole', (_, value) => {
    expect(refusalOf(() => parse(value))?.[0]).toBe('UNSUPPORTED');
  });

  it('that is not UTF-8 is refused', () => {
    expect(refusalOf(() => parseSiteList(Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d)))?.[0]).toBe(
      'UNSUPPORTED',
    );
  });

  it('has bounds for its bytes and its entries', () => {
    const entries = (count: number) => Array.from({ length: count }, () => entry);
    expect(parse(entries(limits.listEntries))).toHaveLength(limits.listEntries);
    expect(refusalOf(() => parse(entries(limits.listEntries + 1)))?.[0]).toBe('UNSUPPORTED');
    const padded = (bytes: number) => `[${' '.repeat(bytes - 2)}]`;
    expect(parse(padded(limits.listBytes))).toEqual([]);
    expect(refusalOf(() => parse(padded(limits.listBytes + 1)))?.[0]).toBe('TOO_LARGE');
  });

  it('from any bytes is refused with a code, or has only valid entries that stay below their addresses', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('Low Tide', 'a/b.svg', '../a', '\u202e'),
    );
    const loose = fc.record(
      {
        title: text,
        address: fc.constantFrom(address, other, 'x'),
        icon: text,
        description: text,
        extra: text,
      },
      { requiredKeys: ['title', 'address'] },
    );
    const close = fc.record(
      { title: fc.string({ minLength: 1 }), address: fc.constantFrom(address, other), icon: text },
      { requiredKeys: ['title', 'address'] },
    );
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map(bytesOf),
          fc.array(loose).map(bytesOf),
          fc.array(close, { maxLength: 3 }).map(bytesOf),
        ),
        (bytes) => {
          let entries: ReturnType<typeof parseSiteList>;
          try {
            entries = parseSiteList(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(AntwayError);
            expect((error as AntwayError).code).toBe('UNSUPPORTED');
            return;
          }
          for (const { title, address, icon, cover } of entries) {
            accepted++;
            expect(title).toMatch(/^[^\p{Cc}\u2028-\u202e\u2066-\u2069]{1,100}$/u);
            expect(Address.isHex(address)).toBe(true);
            for (const path of [icon, cover].filter((path) => path !== undefined)) {
              const url = new URL(`/${address}/${path}`, 'https://gateway.example');
              expect(url.href).toBe(`https://gateway.example/${address}/${path}`);
            }
          }
        },
      ),
      { numRuns: 2_000 },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});

describe('the configuration', () => {
  const configOf = (file: unknown, settings: unknown = {}) =>
    combine(parseServerConfig(file), parseSettings(settings), 'https://gateway.example/');

  it('has the sample, the catalogue and the lists of the host, and adds the lists of the user', () => {
    const file = { sample: entry, catalogue: [entry], lists: { Community: address, News: address } };
    const { config, sources } = configOf(file, { lists: { News: other, Mine: address } });
    expect(config).toMatchObject({ sample: entry, catalogue: [entry] });
    expect(Array.from(config.lists, ([title, { hex }]) => [title, hex])).toEqual([
      ['Community', address],
      ['News', other.toLowerCase()],
      ['Mine', address],
    ]);
    expect(sources).toMatchObject({
      sample: 'host',
      catalogue: 'host',
      lists: { Community: 'host', News: 'user', Mine: 'user' },
    });
  });

  it('leaves out sites that the host or the user denies', () => {
    const file = { sample: { ...entry, address: other }, catalogue: [entry, { ...entry, address: other }] };
    const { config } = configOf({ ...file, denied: [other] }, { denied: [address] });
    expect(config).toMatchObject({ sample: null, catalogue: [] });
  });

  it.each([
    ['sample', { sample: [] }],
    ['sample.title', { sample: { address } }],
    ['sample.href', { sample: { ...entry, href: '/' } }],
    ['catalogue', { catalogue: entry }],
    ['catalogue', { catalogue: Array.from({ length: 101 }, () => entry) }],
    ['catalogue[0].title', { catalogue: [{ ...entry, title: '' }] }],
    ['catalogue[1].icon', { catalogue: [entry, { ...entry, icon: '../x' }] }],
    ['lists.News', { lists: { News: 'no address' } }],
    ['lists.', { lists: { '': address } }],
    ['lists.a\nb', { lists: { 'a\nb': address } }],
  ])('with a bad %s is refused, naming the key', (key, file) => {
    expect(refusalOf(() => parseServerConfig(file))).toEqual(['BAD_CONFIG', key]);
  });

  it.each([['sample'], ['catalogue']])('has no %s of the user', (key) => {
    expect(refusalOf(() => parseSettings({ [key]: [] }))).toEqual(['BAD_CONFIG', key]);
  });
});

const origin = 'http://127.0.0.1:8080';

function start(config: ServerConfig, records: Records, pointers?: Records) {
  const network = new Network(records, pointers);
  const gateway = startGateway(deploymentAt(origin), { config, network });
  onTestFinished(() => gateway.close());
  const get = async (path: string, as: 'fetch' | 'document' = 'fetch') =>
    (await gateway.handle(requestOf(origin + path, {}, as), contextOf(origin)))!;
  const json = async (path: string) => (await get(path)).json();
  return { network, get, json };
}

describe('the endpoint /-/lists', () => {
  it('reads a configured list of sites or names, also behind a pointer', async () => {
    const records: Records = new Map();
    const listed = [entry, { title: '<b>', address: other }];
    const { address: list } = await encryptedFile(Buffer.from(JSON.stringify(listed)), records);
    const owner = new PointerOwner(7);
    const pointers: Records = new Map([[owner.address.hex, owner.sign(1n, list)]]);
    const config = { lists: { Direct: list.hex }, nameLists: { pointer: owner.address.hex } };
    const { json } = start(config, records, pointers);
    for (const { hex } of [list, owner.address]) {
      expect(await json(`/-/lists?address=${hex}`)).toEqual({ text: JSON.stringify(listed) });
    }
  });

  it('refuses a list that is not configured, and asks no peer for it', async () => {
    const records: Records = new Map();
    const { address: list } = await encryptedFile(Buffer.from(JSON.stringify([entry])), records);
    const { json, network } = start({ lists: { Another: address } }, records);
    expect(await json(`/-/lists?address=${list.hex}`)).toMatchObject({ code: 'REFUSED' });
    expect(network.asked).toEqual([]);
  });

  it.each([
    ['a site', tarchive({ 'list.json': '[]' }), 'UNSUPPORTED'],
    ['a huge file', Buffer.alloc(limits.listBytes + 1, ' '), 'TOO_LARGE'],
  ])('answers %s with a code', async (_, bytes, code) => {
    const records: Records = new Map();
    const { address: list } = await encryptedFile(bytes, records);
    const { json } = start({ lists: { Bad: list.hex } }, records);
    expect(await json(`/-/lists?address=${list.hex}`)).toMatchObject({ code });
  });

  it('answers a list that no peer has with NOT_FOUND', async () => {
    const { json } = start({ lists: { Gone: address } }, new Map());
    expect(await json(`/-/lists?address=${address}`)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the endpoint /-/recent-files', () => {
  it('names the files of opened sites from stored chunks, and asks no peer', async () => {
    const records: Records = new Map();
    const { address: site } = await encryptedFile(tarchive({ 'a.txt': 'a', 'notes/b.txt': 'b' }), records);
    const { get, json, network } = start({}, records);
    expect(await json('/-/recent-files')).toEqual({ sites: [] });
    await (await get(`/${site.hex}/`, 'document')).text();
    await expect
      .poll(() => json('/-/recent-files'))
      .toEqual({ sites: [{ address: site.hex, path: `/${site.hex}/`, files: ['a.txt', 'notes/b.txt'] }] });
    const requests = network.asked.length;
    records.clear();
    await json('/-/recent-files');
    expect(network.asked).toHaveLength(requests);
  });
});
