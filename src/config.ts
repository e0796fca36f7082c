import { Address } from './address.ts';
import { AntwayError } from './errors.ts';
import { PeerUrl } from './peer-url.ts';

/**
 * How sites are isolated from each other.
 *
 * - `auto`: a site whose pages can run scripts gets its own origin if the host has wildcard names. Otherwise as `path`.
 * - `path`: all sites share the gateway's origin. The user decides which sites may run scripts.
 * - `subdomain`: every site has its own origin, with or without scripts.
 */
export type Isolation = 'auto' | 'path' | 'subdomain';

/** The transports used to reach peers: any transport that works, or only the named one. */
export type TransportChoice = 'auto' | 'webtransport' | 'http';

/** The effective configuration: `antway.json` and the user's settings, checked, with defaults filled in. */
export interface Config {
  peers: readonly PeerUrl[];
  /** Whether peers that the configured peers name may be used too. */
  usePeersOfPeers: boolean;
  transport: TransportChoice;
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
    /** Ceiling of decrypted chunks in memory, in bytes. */
    memoryBytes: number;
  };
}

/** Settings that a user can change in the shell, as JSON. A missing setting has the host's value. */
export interface Settings {
  /** Replaces the host's peers. */
  peers?: string[];
  usePeersOfPeers?: boolean;
  transport?: TransportChoice;
  cache?: { maxBytes?: number; memoryBytes?: number };
  /** Name → address. Added to the host's names. */
  names?: Record<string, string>;
  /** Addresses that are not served. Added to the host's list: an address that the host denies stays denied. */
  denied?: string[];
}

/** The value of a valid `antway.json`. */
export interface ServerConfig extends Settings {
  isolation?: Isolation;
  trusted?: string[];
}

/** The source of a value: the host, the user, or a default. */
export type Source = 'host' | 'user' | 'default';

/** The source of each value of a `Config`. Every name and every denied address has its own source. */
export interface ConfigSources {
  peers: Source;
  usePeersOfPeers: Source;
  transport: Source;
  isolation: Source;
  names: Record<string, Source>;
  trusted: Source;
  denied: Record<string, Source>;
  cache: Record<keyof Config['cache'], Source>;
}

const gibibyte = 1024 ** 3;
const defaultCache = { maxBytes: 4 * gibibyte, memoryBytes: 64 * 1024 ** 2 };

/**
 * The configuration of a host without `antway.json`. The host counts as a peer, because `antway-peer` can host the
 * gateway.
 */
const withoutFile: ServerConfig = { peers: ['/'] };

const settingsKeys = ['peers', 'usePeersOfPeers', 'transport', 'names', 'denied', 'cache'];

/**
 * Checks the value of `antway.json`.
 * @param value the parsed JSON.
 * @param baseUrl resolves a peer written as a path, such as `/` for "the host of this page is the peer".
 * @param place the file name for error messages.
 * @throws AntwayError `BAD_CONFIG` that names the key, for an unknown key or a bad value.
 */
export function parseServerConfig(value: unknown, baseUrl: string, place = 'antway.json'): ServerConfig {
  return within(place, () => {
    parseConfig(objectAt('', value, [...settingsKeys, '$schema', 'isolation', 'trusted']), baseUrl);
    return value as ServerConfig;
  });
}

/** Checks the user's settings. Parameters and errors as of `parseServerConfig`. */
export function parseSettings(value: unknown, baseUrl: string): Settings {
  return within('The settings', () => {
    parseConfig(objectAt('', value, settingsKeys), baseUrl);
    return value as Settings;
  });
}

/**
 * Merges a user's settings into the host's file.
 * @param host null if the host has no file.
 * @param quotaBytes the browser's storage quota for this origin, if known. The default ceiling of the chunk store is a
 *   tenth of the quota, at most 4 GiB.
 */
export function combine(
  host: ServerConfig | null,
  settings: Settings,
  baseUrl: string,
  quotaBytes?: number,
): { config: Config; sources: ConfigSources } {
  const file = host ?? withoutFile;
  const config = parseConfig(
    {
      ...file,
      ...settings,
      names: { ...file.names, ...settings.names },
      denied: [...(file.denied ?? []), ...(settings.denied ?? [])],
      cache: { ...file.cache, ...settings.cache },
    },
    baseUrl,
    quotaBytes,
  );
  const deniedByHost = addressSet('denied', file.denied);
  const { peers, usePeersOfPeers, transport, names, cache } = settings;
  const sources: ConfigSources = {
    peers: sourceOf(peers, host?.peers),
    usePeersOfPeers: sourceOf(usePeersOfPeers, host?.usePeersOfPeers),
    transport: sourceOf(transport, host?.transport),
    isolation: sourceOf(undefined, host?.isolation),
    names: sourceOfEach(config.names.keys(), (name) => Object.hasOwn(names ?? {}, name)),
    trusted: sourceOf(undefined, host?.trusted),
    denied: sourceOfEach(config.denied, (address) => !deniedByHost.has(address)),
    cache: {
      maxBytes: sourceOf(cache?.maxBytes, host?.cache?.maxBytes),
      memoryBytes: sourceOf(cache?.memoryBytes, host?.cache?.memoryBytes),
    },
  };
  return { config, sources };
}

function sourceOf(own: unknown, hosts: unknown): Source {
  if (own !== undefined) return 'user';
  return hosts === undefined ? 'default' : 'host';
}

function sourceOfEach(keys: Iterable<string>, isOwn: (key: string) => boolean): Record<string, Source> {
  return Object.fromEntries(Array.from(keys, (key) => [key, isOwn(key) ? 'user' : 'host']));
}

/** Parses an object whose keys have been checked. @throws AntwayError `BAD_CONFIG` naming the key. */
function parseConfig(root: Record<string, unknown>, baseUrl: string, quotaBytes = Infinity): Config {
  const { isolation = 'auto', transport = 'auto', usePeersOfPeers = false } = root;
  const { cache: cacheValue = {}, names = {}, $schema = '' } = root;
  const cache = objectAt('cache', cacheValue, ['maxBytes', 'memoryBytes']);
  if (typeof $schema !== 'string') throw bad('$schema', 'it must be the URL of a schema');
  if (isolation !== 'auto' && isolation !== 'path' && isolation !== 'subdomain') {
    throw bad('isolation', 'it must be "auto", "path" or "subdomain"');
  }
  if (transport !== 'auto' && transport !== 'webtransport' && transport !== 'http') {
    throw bad('transport', 'it must be "auto", "webtransport" or "http"');
  }
  if (typeof usePeersOfPeers !== 'boolean') throw bad('usePeersOfPeers', 'it must be true or false');
  const maxBytes = Math.min(Math.floor(quotaBytes / 10), defaultCache.maxBytes);
  return {
    peers: listAt('peers', root.peers).map((peer, i) => PeerUrl.parse(peer, baseUrl, `peers[${i}]`)),
    usePeersOfPeers,
    transport,
    isolation,
    names: parseNames(names),
    trusted: addressSet('trusted', root.trusted),
    denied: addressSet('denied', root.denied),
    cache: {
      maxBytes: bytesAt('cache.maxBytes', cache.maxBytes, maxBytes),
      memoryBytes: bytesAt('cache.memoryBytes', cache.memoryBytes, defaultCache.memoryBytes),
    },
  };
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
    throw bad(key || 'the whole', 'it must be an object');
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw bad(key ? `${key}.${name}` : name, 'there is no such key');
  }
  return value as Record<string, unknown>;
}

function bad(key: string, why: string): AntwayError {
  return new AntwayError('BAD_CONFIG', `${key}: ${why}.`, { key });
}

/** Adds to an error which file or settings contain the bad key. */
function within<T>(place: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof AntwayError)) throw error;
    throw new AntwayError(error.code, `${place}, ${error.message}`, error.details);
  }
}
