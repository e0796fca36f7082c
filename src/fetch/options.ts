import type { Address } from '../address.ts';
import { combine, parseServerConfig } from '../config.ts';
import { parseSeeds } from '../nodes/node-address.ts';
import type { PeerUrl } from '../peer-url.ts';
import type { NodeNetwork } from '../server-config.ts';
import { AntError } from './ant-error.ts';
import type { AntFetchOptions, AntStoreOption } from './types.ts';

export interface ParsedOptions {
  peers: readonly PeerUrl[];
  /** Undefined if no node is to be asked. */
  nodes: NodeNetwork | undefined;
  names: ReadonlyMap<string, Address>;
  store: AntStoreOption;
}

/**
 * @throws TypeError for an unknown option or a wrong type, AntError `BAD_CONFIG` for a wrong peer, node or name,
 *   `UNSUPPORTED` for nodes where there is no WebRTC.
 */
export function parseOptions(options: AntFetchOptions): ParsedOptions {
  refuseUnknown('createAntFetch', options, ['peers', 'nodes', 'names', 'store']);
  const { peers = [], nodes, names = {}, store = defaultStore() } = options;
  if (!Array.isArray(peers)) throw new TypeError('createAntFetch: “peers” must be a list of URLs.');
  if (peers.length === 0 && nodes === undefined) {
    throw new TypeError('createAntFetch: there must be at least one URL in “peers”, or “nodes”.');
  }
  if (nodes !== undefined && nodes !== 'mainnet' && !Array.isArray(nodes)) {
    throw new TypeError('createAntFetch: “nodes” must be “mainnet”, or a list of multiaddresses of nodes.');
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
    const file = parseServerConfig({ peers, names, ...(nodes && { nodes }) }, 'createAntFetch');
    const base = globalThis.location?.origin;
    const { config } = combine(file, {}, base && base !== 'null' ? base : 'https://page.invalid');
    if (config.peers.some(({ origin }) => origin === 'https://page.invalid')) {
      throw new TypeError('createAntFetch: the peer “/” is the host of a page, and this program has none.');
    }
    if (nodes !== undefined) requireNodes(config.nodes);
    return { peers: config.peers, nodes: nodes && config.nodes, names: config.names, store };
  } catch (error) {
    if (error instanceof TypeError || error instanceof AntError) throw error;
    throw new AntError('BAD_CONFIG', error instanceof Error ? error.message : String(error), [], {
      cause: error,
    });
  }
}

function defaultStore(): AntStoreOption {
  return typeof indexedDB === 'undefined' ? 'memory' : 'indexeddb';
}

/** @throws AntError `UNSUPPORTED` where there is no WebRTC, AntwayError `BAD_CONFIG` for a wrong address. */
function requireNodes(network: NodeNetwork): void {
  if (network !== 'mainnet') parseSeeds(network);
  if (typeof RTCPeerConnection !== 'undefined') return;
  const message =
    'createAntFetch: “nodes” needs WebRTC, which only windows of browsers have. Workers and programs need “peers”.';
  throw new AntError('UNSUPPORTED', message);
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
