import { readFileSync, writeFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combine, parseServerConfig } from '../../src/config.ts';
import { AntwayError } from '../../src/errors.ts';
import { configJsonSchema } from './support/config-json-schema.ts';

const documentPath = new URL('../../docs/reference/antway.schema.json', import.meta.url);
const document = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
const schema = JSON.parse(document);
const isValid = new Ajv2020({ strict: true, strictTypes: false, allErrors: true }).compile(schema);

const base = 'https://gateway.example/';
const address = 'ab'.repeat(32);
const other = 'CD'.repeat(32);

/** Whether the gateway takes a configuration. */
function isAccepted(value: unknown): boolean {
  try {
    parseServerConfig(value);
    return true;
  } catch (error) {
    if (error instanceof AntwayError && error.code === 'BAD_CONFIG') return false;
    throw error;
  }
}

it('docs/reference/antway.schema.json is the generated schema (UPDATE_DOCS=1 writes it)', () => {
  if (process.env.UPDATE_DOCS) writeFileSync(documentPath, document);
  expect(readFileSync(documentPath, 'utf8'), 'Run this test with UPDATE_DOCS=1.').toBe(document);
});

describe('the schema of antway.json, like the gateway,', () => {
  it.each<[unknown]>([
    [{}],
    [{ $schema: './antway.schema.json' }],
    [{ peers: [] }],
    [{ nodes: 'mainnet' }],
    [{ peers: ['/'] }],
    [{ peers: ['https://peer.example', 'https://peer.example/', 'https://peer.example:4433'] }],
    [{ peers: ['https://192.0.2.1:4433', 'https://[2001:db8::1]:4433'] }],
    [{ peers: [`https://peer.example#sha-256=${address}`] }],
    [{ peers: [`https://peer.example:4433/#sha-256=${address},${other}`] }],
    [{ peers: ['http://localhost', 'http://127.0.0.1:8080', 'http://127.1.2.3/', 'http://[::1]:8080'] }],
    [{ peers: ['http://antway.localhost:8080', 'http://a.b.localhost'] }],
    [
      {
        peers: ['anttp+http://127.0.0.1:18888', 'antd+http://localhost:8082/', 'anttp+https://anttp.example'],
      },
    ],
    [{ isolation: 'auto' }],
    [{ isolation: 'path' }],
    [{ isolation: 'subdomain' }],
    [{ transport: 'auto' }],
    [{ transport: 'webtransport' }],
    [{ transport: 'http', usePeersOfPeers: true }],
    [{ usePeersOfPeers: false }],
    [{ names: {} }],
    [{ names: { docs: address, 'My.site-2_b': other, '7': address } }],
    [{ names: { ['n'.repeat(100)]: address } }],
    [{ names: { [address.slice(1)]: address } }],
    [{ trusted: [address, other], denied: [] }],
    [{ reportUrl: 'https://gateway.example/report?address={address}' }],
    [{ reportUrl: 'https://gateway.example:8443/{address}/report' }],
    [{ reportUrl: 'mailto:abuse@gateway.example?subject=Report%20{address}&body={address}' }],
    [{ sample: { title: 'Low Tide', address } }],
    [{ catalogue: [] }],
    [{ catalogue: [{ title: 'a', address, description: 'b', icon: 'a/b.svg', cover: 'c.webp' }] }],
    [{ lists: { 'A community’s list': address } }],
    [{ cache: {} }],
    [{ cache: { maxBytes: 0 } }],
    [{ cache: { maxBytes: 2 ** 53 - 1, memoryBytes: 1 } }],
  ])('accepts %j', (value) => {
    expect(isAccepted(value)).toBe(true);
    expect(isValid(value), JSON.stringify(isValid.errors)).toBe(true);
  });

  it.each<[unknown]>([
    [null],
    [[]],
    ['peers'],
    [{ peer: [] }],
    [{ Peers: [] }],
    [{ constructor: 1 }],
    [{ peers: '/' }],
    [{ peers: null }],
    [{ peers: [7] }],
    [{ peers: ['https://'] }],
    [{ peers: ['ftp://peer.example'] }],
    [{ peers: ['wss://peer.example'] }],
    [{ peers: ['peer.example:4433'] }],
    [{ peers: ['peer.example'] }],
    [{ peers: ['/chunks'] }],
    [{ peers: ['https://peer.example/v1'] }],
    [{ peers: ['https://peer.example/?a'] }],
    [{ peers: ['https://user:secret@peer.example'] }],
    [{ peers: ['https://user@peer.example'] }],
    [{ peers: ['http://peer.example'] }],
    [{ peers: ['http://192.0.2.1'] }],
    [{ peers: ['http://127.0.0.1.example'] }],
    [{ peers: ['http://notlocalhost'] }],
    [{ peers: ['http://[::2]'] }],
    [{ peers: [`https://peer.example#sha-256=${address.slice(1)}`] }],
    [{ peers: [`https://peer.example#sha-256=${address},`] }],
    [{ peers: [`https://peer.example#sha-1=${address}`] }],
    [{ peers: [`https://peer.example#${address}`] }],
    [{ peers: [`http://127.0.0.1:8080#sha-256=${address}`] }],
    [{ peers: ['anttp+http://anttp.example'] }],
    [{ peers: ['anttp+/'] }],
    [{ peers: ['anttp://127.0.0.1'] }],
    [{ peers: ['antway+http://127.0.0.1'] }],
    [{ peers: ['antd+anttp+http://127.0.0.1'] }],
    [{ peers: ['antd+https://antd.example/v1'] }],
    [{ peers: [`antd+https://antd.example#sha-256=${address}`] }],
    [{ reportUrl: '' }],
    [{ reportUrl: null }],
    [{ reportUrl: 'https://gateway.example/report' }],
    [{ reportUrl: 'http://gateway.example/{address}' }],
    [{ reportUrl: '/report/{address}' }],
    [{ reportUrl: 'javascript:alert("{address}")' }],
    [{ reportUrl: 'data:text/html,{address}' }],
    [{ reportUrl: 'https://{address}.example/' }],
    [{ reportUrl: 'https://user@gateway.example/{address}' }],
    [{ reportUrl: 'https://gateway.example\\@other.example/{address}' }],
    [{ reportUrl: 'https://gateway.example/ {address}' }],
    [{ reportUrl: 'https://gateway.example/\ud800{address}' }],
    [{ reportUrl: 'https://gateway.example/\u202e{address}' }],
    [{ reportUrl: 'mailto:{address}' }],
    [{ reportUrl: 'mailto:abuse@gateway.example' }],
    [{ isolation: 'paths' }],
    [{ isolation: true }],
    [{ transport: 'quic' }],
    [{ transport: null }],
    [{ usePeersOfPeers: 'yes' }],
    [{ names: [] }],
    [{ names: 'docs' }],
    [{ names: { docs: 'no address' } }],
    [{ names: { docs: 7 } }],
    [{ names: { docs: `${address}0` } }],
    [{ names: { 'a/b': address } }],
    [{ names: { 'a b': address } }],
    [{ names: { '-': address } }],
    [{ names: { '.hidden': address } }],
    [{ names: { ź: address } }],
    [{ names: { '': address } }],
    [{ names: { [address]: address } }],
    [{ names: { [other]: address } }],
    [{ names: { ['n'.repeat(101)]: address } }],
    [{ trusted: address }],
    [{ trusted: null }],
    [{ trusted: [address, address.slice(1)] }],
    [{ denied: [null] }],
    [{ denied: {} }],
    [{ sample: address }],
    [{ sample: { title: 'Low Tide' } }],
    [{ sample: { title: 'Low Tide', address, url: '/' } }],
    [{ catalogue: { title: 'Low Tide', address } }],
    [{ catalogue: [{ title: ' ', address }] }],
    [{ catalogue: [{ title: 'a\u202eb', address }] }],
    [{ catalogue: [{ title: 'a', address, icon: '../icon.svg' }] }],
    [{ lists: [address] }],
    [{ lists: { '': address } }],
    [{ lists: { news: 'no address' } }],
    [{ cache: 5 }],
    [{ cache: [] }],
    [{ cache: { maxbytes: 5 } }],
    [{ cache: { maxBytes: -1 } }],
    [{ cache: { maxBytes: '4 GB' } }],
    [{ cache: { maxBytes: 2 ** 53 } }],
    [{ cache: { memoryBytes: 0.5 } }],
    [{ cache: { memoryBytes: null } }],
  ])('refuses %j', (value) => {
    expect(isAccepted(value)).toBe(false);
    expect(isValid(value)).toBe(false);
  });
});

it('the schema and the gateway take at most 100 entries of a catalogue', () => {
  for (const length of [100, 101]) {
    const value = { catalogue: Array.from({ length }, () => ({ title: 'a', address })) };
    expect([isAccepted(value), isValid(value)]).toEqual([length === 100, length === 100]);
  }
});

it('the schema and the gateway agree about any value', () => {
  const keys = [
    '$schema',
    'peers',
    'names',
    'cache',
    'denied',
    'maxBytes',
    '__proto__',
    'constructor',
    'docs',
  ];
  const leaf = fc.oneof(
    fc.constantFrom(address, 'auto', 'path', '/', 'https://peer.example', 'http://localhost:1', ''),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('array'), tie('object')),
    array: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 3 }),
  }));
  const list = fc.array(leaf, { maxLength: 2 });
  const config = fc.record(
    {
      $schema: leaf,
      peers: fc.oneof(list, leaf),
      usePeersOfPeers: leaf,
      transport: leaf,
      isolation: leaf,
      names: fc.oneof(fc.dictionary(fc.constantFrom(...keys), leaf, { maxKeys: 2 }), value),
      trusted: list,
      cache: fc.oneof(fc.record({ maxBytes: leaf, memoryBytes: leaf }, { requiredKeys: [] }), value),
    },
    { requiredKeys: [] },
  );
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(value, config), (value) => {
      expect(isAccepted(value)).toBe(isValid(value));
      accepted += isValid(value) ? 1 : 0;
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toBeGreaterThan(20);
});

it('the schema tells the defaults that the gateway has', () => {
  // By default, there is no schema, no place for reports, no sample and no deployment.
  const {
    $schema: _,
    reportUrl: __,
    sample: ___,
    deployment: ____,
    ...keys
  } = schema.properties as Record<string, { default: unknown }>;
  const told = Object.fromEntries(Object.entries(keys).map(([key, property]) => [key, property.default]));
  const cache = schema.properties.cache.properties as Record<string, { default: number }>;
  told.cache = Object.fromEntries(Object.entries(cache).map(([key, property]) => [key, property.default]));
  expect(Object.entries(told).filter(([, value]) => value === undefined)).toEqual([]);
  const config = (file: unknown) => combine(parseServerConfig(file), {}, base).config;
  expect(config(told)).toEqual(config({}));
});
