import { Address } from './address.ts';
import { AntwayError } from './errors.ts';

/** How sites are kept apart: all under the gateway's origin, or each on an origin of its own. */
export type Isolation = 'path' | 'subdomain';

/** One peer as configured: where its HTTP face or its WebTransport listens, and which certificates it may show. */
export interface PeerConfig {
  /** Origin, such as `https://peer.example:4433` or `http://127.0.0.1:8080`. */
  url: string;
  /** SHA-256 of acceptable self-signed certificates, 64 hex digits each. Empty: the certificate is CA-signed. */
  certificateHashes: readonly string[];
}

/** The contents of `antway.json`, checked, with defaults filled in. */
export interface Config {
  peers: readonly PeerConfig[];
  isolation: Isolation;
  /** Aliases: first path segment → address. */
  names: ReadonlyMap<string, Address>;
  /** Addresses (hex) whose HTML may run scripts in path mode. */
  trusted: ReadonlySet<string>;
  /** Addresses (hex) that are never served. */
  denied: ReadonlySet<string>;
  cache: {
    /** Ceiling of the chunk store in IndexedDB, in bytes. */
    maxBytes: number;
    /** Ceiling of opened chunks kept in memory, in bytes. */
    memoryBytes: number;
  };
}

const gibibyte = 1024 ** 3;
const defaultCache = { maxBytes: 4 * gibibyte, memoryBytes: 64 * 1024 ** 2 };

/**
 * Reads the value of `antway.json`.
 *
 * @param value the parsed JSON.
 * @param baseUrl resolves a peer written as a path, such as `/` for "the host of this page is the peer".
 * @throws AntwayError `BAD_CONFIG` that names the key, for an unknown key or a bad value.
 */
export function parseConfig(value: unknown, baseUrl: string): Config {
  const root = objectAt('', value, ['$schema', 'peers', 'isolation', 'names', 'trusted', 'denied', 'cache']);
  const { cache: cacheValue = {}, isolation = 'path', names = {}, $schema = '' } = root;
  const cache = objectAt('cache', cacheValue, ['maxBytes', 'memoryBytes']);
  if (typeof $schema !== 'string') throw bad('$schema', 'it must be the URL of a schema');
  if (isolation !== 'path' && isolation !== 'subdomain') {
    throw bad('isolation', 'it must be "path" or "subdomain"');
  }
  return {
    peers: listAt('peers', root.peers).map((peer, i) => parsePeer(peer, baseUrl, `peers[${i}]`)),
    isolation,
    names: parseNames(names),
    trusted: addressSet('trusted', root.trusted),
    denied: addressSet('denied', root.denied),
    cache: {
      maxBytes: bytesAt('cache.maxBytes', cache.maxBytes, defaultCache.maxBytes),
      memoryBytes: bytesAt('cache.memoryBytes', cache.memoryBytes, defaultCache.memoryBytes),
    },
  };
}

/**
 * Reads a peer's URL: `https://host:port`, optionally `#sha-256=<hex>[,<hex>]`; `http://` only on loopback.
 * @throws AntwayError `BAD_CONFIG` naming `key`.
 */
export function parsePeer(value: unknown, baseUrl: string, key = 'peers'): PeerConfig {
  const isUrl = typeof value === 'string' && (value === '/' || /^https?:\/\//i.test(value));
  if (!isUrl || !URL.canParse(value, baseUrl)) throw bad(key, 'it must be a URL, or / for this host');
  const url = new URL(value, baseUrl);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw bad(key, 'it must be an https:// URL, or http:// on loopback');
  }
  if (url.username || url.password || url.search || url.pathname !== '/') {
    throw bad(key, 'it must be an origin, with nothing but #sha-256=… after it');
  }
  let certificateHashes: string[] = [];
  if (url.hash) {
    const match = /^#sha-256=([0-9a-f]{64}(?:,[0-9a-f]{64})*)$/i.exec(url.hash);
    if (!match) throw bad(key, 'what follows # must be sha-256=<64 hex digits>[,<64 hex digits>…]');
    certificateHashes = match[1]!.toLowerCase().split(',');
    if (url.protocol !== 'https:') throw bad(key, 'certificate hashes need an https:// URL');
  }
  return { url: url.origin, certificateHashes };
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function parseNames(value: unknown): Map<string, Address> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad('names', 'it must be an object of name → address');
  }
  return new Map(
    Object.entries(value).map(([name, address]) => {
      if (!/^[a-z0-9][a-z0-9._-]*$/i.test(name) || Address.isHex(name) || name.length > 100) {
        throw bad(
          `names.${name}`,
          'a name has letters, digits, dots, dashes and underscores, and is not an address',
        );
      }
      return [name, addressAt(`names.${name}`, address)];
    }),
  );
}

function addressSet(key: string, value: unknown): Set<string> {
  return new Set(listAt(key, value).map((item, i) => addressAt(`${key}[${i}]`, item).hex));
}

function addressAt(key: string, value: unknown): Address {
  if (typeof value !== 'string' || !Address.isHex(value))
    throw bad(key, 'it must be an address of 64 hex digits');
  return Address.fromHex(value);
}

function listAt(key: string, value: unknown = []): unknown[] {
  if (!Array.isArray(value)) throw bad(key, 'it must be a list');
  return value;
}

function bytesAt(key: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback;
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw bad(key, 'it must be a whole number of bytes');
  return value as number;
}

function objectAt(key: string, value: unknown, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(key || 'the file', 'it must be an object');
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw bad(key ? `${key}.${name}` : name, 'there is no such key');
  }
  return value as Record<string, unknown>;
}

function bad(key: string, why: string): AntwayError {
  return new AntwayError('BAD_CONFIG', `antway.json, ${key}: ${why}.`, { key });
}
