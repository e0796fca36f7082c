import type { Address } from '../address.ts';
import { combine, parseSettings } from '../config.ts';
import type { PeerUrl } from '../peer-url.ts';
import { AntError } from './ant-error.ts';
import type { AntFetchOptions, AntStoreOption } from './types.ts';

export interface ParsedOptions {
  peers: readonly PeerUrl[];
  names: ReadonlyMap<string, Address>;
  store: AntStoreOption | undefined;
}

/** @throws TypeError for an unknown option or a wrong type, AntError `BAD_CONFIG` for a wrong peer or name. */
export function parseOptions(options: AntFetchOptions): ParsedOptions {
  refuseUnknown('createAntFetch', options, ['peers', 'names', 'store']);
  const { peers, names = {}, store } = options;
  if (!Array.isArray(peers) || peers.length === 0) {
    throw new TypeError('createAntFetch: “peers” must be a list with at least one URL.');
  }
  if (!isStore(store)) {
    throw new TypeError(
      'createAntFetch: “store” must be “memory”, “indexeddb” or an object with get and put.',
    );
  }
  if (store === 'indexeddb' && typeof indexedDB === 'undefined') {
    throw new TypeError('createAntFetch: “store” is “indexeddb”, which this platform does not have.');
  }
  try {
    const settings = parseSettings({ peers, names });
    const base = globalThis.location?.origin;
    const { config } = combine(settings, {}, base && base !== 'null' ? base : 'https://page.invalid');
    if (config.peers.some(({ origin }) => origin === 'https://page.invalid')) {
      throw new TypeError('createAntFetch: the peer “/” is the host of a page, and this program has none.');
    }
    return { peers: config.peers, names: config.names, store };
  } catch (error) {
    if (error instanceof TypeError) throw error;
    throw new AntError('BAD_CONFIG', error instanceof Error ? error.message : String(error), [], {
      cause: error,
    });
  }
}

function isStore(store: unknown): boolean {
  if (store === undefined || store === 'memory' || store === 'indexeddb') return true;
  const { get, put } = Object(store);
  return typeof get === 'function' && typeof put === 'function';
}

/** @throws TypeError that names the first unknown key, so that a mistyped option is never ignored. */
export function refuseUnknown(place: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${place}: the options must be an object.`);
  }
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw new TypeError(`${place}: there is no option “${unknown}”; there are ${known.join(', ')}.`);
  }
}
