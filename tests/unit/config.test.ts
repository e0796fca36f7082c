import { describe, expect, it } from 'vitest';
import { type Config, combine, parseServerConfig, parseSettings } from '../../src/config.ts';
import { AntwayError } from '../../src/errors.ts';
import type { Settings } from '../../src/server-config.ts';

const base = 'https://gateway.example/';
const address = 'ab'.repeat(32);
const hash = 'cd'.repeat(32);

/** The configuration of a gateway whose host has this file. */
function configOf(file: unknown): Config {
  return combine(parseServerConfig(file), {}, base).config;
}

/** The key that a bad file is said to have, or other bad settings. */
function badKeyOf(
  value: unknown,
  parse: typeof parseServerConfig | typeof parseSettings = parseServerConfig,
): unknown {
  try {
    parse(value);
  } catch (error) {
    expect(error).toBeInstanceOf(AntwayError);
    const { code, details, message } = error as AntwayError;
    expect(code).toBe('BAD_CONFIG');
    expect(message).toContain(String(details.key));
    return details.key;
  }
  return 'nothing: it was accepted';
}

const node = `/ip4/127.0.0.1/udp/10001/webrtc-direct/certhash/uEiAkAsFZc-iV5UToJHyETA8GLBIVdzB10Qv6VuNlwqTwkQ/p2p/${'5a'.repeat(32)}`;

describe('antway.json', () => {
  it('may be empty: everything has a default', () => {
    expect(configOf({})).toEqual({
      peers: [],
      usePeersOfPeers: false,
      transport: 'auto',
      useNodes: false,
      nodes: 'mainnet',
      isolation: 'auto',
      names: new Map(),
      trusted: new Set(),
      denied: new Set(),
      reportUrl: null,
      publicGateways: [],
      sample: null,
      catalogue: [],
      lists: new Map(),
      nameLists: new Map(),
      cache: { maxBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 },
    });
  });

  it.each<[unknown]>([
    ['testnet'],
    [[]],
    [[node.replace('/udp/', '/tcp/')]],
    [[node.toUpperCase()]],
    [[`${node}/x`]],
    [[node, 7]],
  ])('refuses the nodes %j', (nodes) => {
    expect(() => configOf({ nodes: Array.from({ length: 33 }, () => node) })).toThrow('1 to 32');
    expect(() => configOf({ nodes })).toThrow('“mainnet”, or a list of 1 to 32 multiaddresses of nodes');
  });

  it('sets every key that it names', () => {
    const config = configOf({
      $schema: './antway.schema.json',
      peers: ['https://peer.example:4433', 'http://127.0.0.1:8080'],
      isolation: 'subdomain',
      names: { docs: address, 'my.site-2_b': address.toUpperCase() },
      trusted: [address.toUpperCase()],
      denied: [hash],
      cache: { maxBytes: 0, memoryBytes: 1 },
      transport: 'http',
      usePeersOfPeers: true,
      reportUrl: 'https://gateway.example/report?address={address}',
    });
    expect(config.reportUrl).toBe('https://gateway.example/report?address={address}');
    expect(config.peers.map(String)).toEqual(['https://peer.example:4433', 'http://127.0.0.1:8080']);
    expect(config).toMatchObject({ isolation: 'subdomain', transport: 'http', usePeersOfPeers: true });
    expect(Array.from(config.names, ([name, { hex }]) => [name, hex])).toEqual([
      ['docs', address],
      ['my.site-2_b', address],
    ]);
    expect([...config.trusted]).toEqual([address]);
    expect([...config.denied]).toEqual([hash]);
    expect(config.cache).toEqual({ maxBytes: 0, memoryBytes: 1 });
  });

  it('uses the defaults of the cache for missing keys', () => {
    expect(configOf({ cache: { maxBytes: 5 } }).cache).toEqual({
      maxBytes: 5,
      memoryBytes: 64 * 1024 ** 2,
    });
  });

  it.each([
    ['peer', { peer: [] }],
    ['Peers', { Peers: [] }],
    ['cache.maxbytes', { cache: { maxbytes: 5 } }],
    ['constructor', { constructor: 1 }],
  ])('with the unknown key %s is refused, naming it', (key, value) => {
    expect(badKeyOf(value)).toBe(key);
  });

  it.each([
    ['the whole', null],
    ['the whole', []],
    ['the whole', 'peers'],
    ['peers', { peers: 'https://peer.example' }],
    ['peers', { peers: null }],
    ['peers[1]', { peers: ['/', 7] }],
    ['peers[0]', { peers: ['ftp://peer.example'] }],
    ['isolation', { isolation: 'paths' }],
    ['isolation', { isolation: true }],
    ['transport', { transport: 'udp' }],
    ['usePeersOfPeers', { usePeersOfPeers: 1 }],
    ['names', { names: [address] }],
    ['names', { names: 'docs' }],
    ['names.docs', { names: { docs: 'no address' } }],
    ['names.docs', { names: { docs: 7 } }],
    ['names.a/b', { names: { 'a/b': address } }],
    ['names.-', { names: { '-': address } }],
    ['names.', { names: { '': address } }],
    [`names.${hash}`, { names: { [hash]: address } }],
    ['trusted', { trusted: address }],
    ['trusted[1]', { trusted: [address, address.slice(1)] }],
    ['denied[0]', { denied: [null] }],
    ['cache', { cache: 5 }],
    ['cache.maxBytes', { cache: { maxBytes: -1 } }],
    ['cache.maxBytes', { cache: { maxBytes: '4 GB' } }],
    ['cache.memoryBytes', { cache: { memoryBytes: 0.5 } }],
    ['cache.memoryBytes', { cache: { memoryBytes: null } }],
  ])('with a bad %s is refused, naming the key (%j)', (key, value) => {
    expect(badKeyOf(value)).toBe(key);
  });
});

describe('the user’s settings', () => {
  const host = {
    peers: ['https://host.example'],
    names: { docs: address },
    denied: [address],
    trusted: [hash],
  };
  const over = (settings: Settings, file: object | null = host, quota?: number) =>
    combine(file && parseServerConfig(file), parseSettings(settings), base, quota);

  it('are empty at first: all values come from the host or the defaults', () => {
    const { config, sources } = over({});
    expect(config).toEqual(configOf(host));
    expect(sources).toEqual({
      peers: 'host',
      usePeersOfPeers: 'default',
      transport: 'default',
      useNodes: 'default',
      nodes: 'default',
      isolation: 'default',
      names: 'host',
      trusted: 'host',
      denied: { [address]: 'host' },
      reportUrl: 'default',
      publicGateways: 'default',
      sample: 'default',
      catalogue: 'default',
      lists: {},
      nameLists: {},
      cache: { maxBytes: 'default', memoryBytes: 'default' },
    });
  });

  it('alone allow connections to nodes', () => {
    expect(over({}).config.useNodes).toBe(false);
    const { config, sources } = over({ useNodes: true }, { ...host, nodes: [node] });
    expect(config).toMatchObject({ useNodes: true, nodes: [node] });
    expect(sources).toMatchObject({ useNodes: 'user', nodes: 'host' });
    expect(() => over({}, { ...host, useNodes: true })).toThrow('useNodes: there is no such key');
    expect(() => over({ nodes: 'mainnet' } as Settings)).toThrow('nodes: there is no such key');
  });

  it('replace the host’s peers, transport and sizes, each by itself', () => {
    const { config, sources } = over(
      { peers: ['https://mine.example'], transport: 'http', cache: { maxBytes: 7 } },
      { ...host, transport: 'webtransport', cache: { maxBytes: 5, memoryBytes: 6 } },
    );
    expect(config).toMatchObject({
      peers: [{ id: 'https://mine.example' }],
      transport: 'http',
      cache: { maxBytes: 7, memoryBytes: 6 },
    });
    expect(sources).toMatchObject({
      peers: 'user',
      transport: 'user',
      cache: { maxBytes: 'user', memoryBytes: 'host' },
    });
  });

  it('have names of their own, which change no name of the host', () => {
    const { config, sources } = over(
      { names: { docs: hash, mine: hash, größe: hash } },
      { names: { docs: address, news: address } },
    );
    expect(Array.from(config.names, ([name, { hex }]) => [name, hex])).toEqual([
      ['docs', address],
      ['news', address],
    ]);
    expect(sources.names).toBe('host');
  });

  it.each(['', '.a', '~a', 'a@b', 'a b', 'a/b', '\u202ea', 'a\u200db', 'x'.repeat(101), address])(
    'have no name or list %j',
    (name) => {
      expect(() => over({ names: { [name]: hash } })).toThrow('a name has letters');
      expect(() => over({ nameLists: { [name]: hash } })).toThrow('a name has letters');
    },
  );

  it('add to the host’s lists of names', () => {
    const { config, sources } = over(
      { nameLists: { club: hash, mine: hash } },
      { ...host, nameLists: { club: address, news: address } },
    );
    expect(Array.from(config.nameLists, ([label, { hex }]) => [label, hex])).toEqual([
      ['club', hash],
      ['news', address],
      ['mine', hash],
    ]);
    expect(sources.nameLists).toEqual({ club: 'user', news: 'host', mine: 'user' });
  });

  it('add to the host’s deny list, and remove nothing from it', () => {
    const { config, sources } = over({ denied: [address, hash] });
    expect([...config.denied]).toEqual([address, hash]);
    expect(sources.denied).toEqual({ [address]: 'host', [hash]: 'user' });
  });

  it('apply without a host’s file, with the host as the peer', () => {
    expect(over({}, null)).toMatchObject({
      config: { peers: [{ id: 'https://gateway.example' }] },
      sources: { peers: 'default' },
    });
    expect(over({ peers: [] }, null)).toMatchObject({ config: { peers: [] }, sources: { peers: 'user' } });
  });

  it.each<[string, unknown]>([
    ['peers[1]', { peers: ['/', 'http://peer.example'] }],
    ['transport', { transport: 'udp' }],
    ['cache.maxBytes', { cache: { maxBytes: -1 } }],
    ['names.docs', { names: { docs: 'no address' } }],
    // The host's alone: trust is decided by site, and the origins are laid out by the host.
    ['trusted', { trusted: [address] }],
    ['isolation', { isolation: 'path' }],
    ['the whole', []],
  ])('is refused with a bad %s, naming the key (%j)', (key, value) => {
    expect(badKeyOf(value, parseSettings)).toBe(key);
  });

  it('give the store a tenth of the browser’s quota by default, and at most 4 GiB', () => {
    const gibibyte = 1024 ** 3;
    expect(over({}, host, 5 * gibibyte).config.cache.maxBytes).toBe(gibibyte / 2);
    expect(over({}, host, 500 * gibibyte).config.cache.maxBytes).toBe(4 * gibibyte);
    expect(over({}, { cache: { maxBytes: 9 * gibibyte } }, gibibyte).config.cache.maxBytes).toBe(
      9 * gibibyte,
    );
  });
});
