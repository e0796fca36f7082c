import { describe, expect, it } from 'vitest';
import { parseConfig, parsePeer } from '../../src/config.ts';
import { AntwayError } from '../../src/errors.ts';

const base = 'https://gateway.example/';
const address = 'ab'.repeat(32);
const hash = 'cd'.repeat(32);

/** The key that a bad configuration is said to have. */
function badKeyOf(value: unknown): unknown {
  try {
    parseConfig(value, base);
  } catch (error) {
    expect(error).toBeInstanceOf(AntwayError);
    const { code, details, message } = error as AntwayError;
    expect(code).toBe('BAD_CONFIG');
    expect(message).toContain(String(details.key));
    return details.key;
  }
  return 'nothing: it was accepted';
}

describe('antway.json', () => {
  it('may be empty: everything has a default', () => {
    expect(parseConfig({}, base)).toEqual({
      peers: [],
      isolation: 'path',
      names: new Map(),
      trusted: new Set(),
      denied: new Set(),
      cache: { maxBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 },
    });
  });

  it('sets every key that it names', () => {
    const config = parseConfig(
      {
        $schema: './antway.schema.json',
        peers: ['https://peer.example:4433', 'http://127.0.0.1:8080'],
        isolation: 'subdomain',
        names: { docs: address, 'my.site-2_b': address.toUpperCase() },
        trusted: [address.toUpperCase()],
        denied: [hash],
        cache: { maxBytes: 0, memoryBytes: 1 },
      },
      base,
    );
    expect(config.peers.map(({ url }) => url)).toEqual([
      'https://peer.example:4433',
      'http://127.0.0.1:8080',
    ]);
    expect(config.isolation).toBe('subdomain');
    expect(Array.from(config.names, ([name, { hex }]) => [name, hex])).toEqual([
      ['docs', address],
      ['my.site-2_b', address],
    ]);
    expect([...config.trusted]).toEqual([address]);
    expect([...config.denied]).toEqual([hash]);
    expect(config.cache).toEqual({ maxBytes: 0, memoryBytes: 1 });
  });

  it('keeps the defaults of the cache for what is not set', () => {
    expect(parseConfig({ cache: { maxBytes: 5 } }, base).cache).toEqual({
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
    ['the file', null],
    ['the file', []],
    ['the file', 'peers'],
    ['peers', { peers: 'https://peer.example' }],
    ['peers', { peers: null }],
    ['peers[1]', { peers: ['/', 7] }],
    ['peers[0]', { peers: ['ftp://peer.example'] }],
    ['isolation', { isolation: 'paths' }],
    ['isolation', { isolation: true }],
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

describe('a peer in the configuration', () => {
  it('is reduced to its origin', () => {
    expect(parsePeer('https://Peer.Example:443/', base)).toEqual({
      url: 'https://peer.example',
      certificateHashes: [],
    });
  });

  it('written as a path is on the host of the page', () => {
    expect(parsePeer('/', base).url).toBe('https://gateway.example');
  });

  it('may pin certificates, in either case', () => {
    const other = '12'.repeat(32);
    expect(parsePeer(`https://peer.example:4433#sha-256=${hash.toUpperCase()},${other}`, base)).toEqual({
      url: 'https://peer.example:4433',
      certificateHashes: [hash, other],
    });
  });

  it.each(['http://127.0.0.1:8080', 'http://localhost:1', 'http://antway.localhost', 'http://[::1]:8080'])(
    'may be reached without TLS on loopback: %s',
    (url) => {
      expect(parsePeer(url, base).url).toBe(url);
    },
  );

  it.each([
    ['without TLS beyond loopback', 'http://peer.example'],
    ['without TLS at a name that only looks like loopback', 'http://127.0.0.1.example'],
    ['without TLS at a name that only ends like loopback', 'http://notlocalhost'],
    ['with credentials', 'https://user:secret@peer.example'],
    ['with a path', 'https://peer.example/v1'],
    ['with a query', 'https://peer.example/?a'],
    ['with a certificate hash that is too short', `https://peer.example#sha-256=${hash.slice(1)}`],
    ['with another hash than SHA-256', `https://peer.example#sha-1=${hash}`],
    ['with certificate hashes but without TLS', `http://127.0.0.1:1#sha-256=${hash}`],
    ['that is no URL', 'https://'],
    ['of another scheme', 'data:text/plain,'],
  ])('is refused %s', (_, url) => {
    expect(() => parsePeer(url, base, 'peers[3]')).toThrow(
      expect.objectContaining({ code: 'BAD_CONFIG', details: { key: 'peers[3]' } }),
    );
  });
});
