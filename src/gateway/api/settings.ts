import * as v from 'valibot';
import type { Address } from '../../address.ts';
import type { Config } from '../../config.ts';
import { PeerUrl } from '../../peer-url.ts';
import { probePeer } from '../../peers/probe.ts';
import * as s from '../../schema.ts';
import { appearanceSchema } from '../state/appearance.ts';
import { bodyOf, jsonOf } from './body.ts';
import type { Endpoint } from './endpoint.ts';

/** `/-/config`: the effective config, and the source of each part. */
export const config: Endpoint = {
  GET: (_url, _request, { effective: { config, sources }, configuration }) => ({
    ...asJson(config),
    sources,
    problem: configuration.problem,
  }),
};

export const settings: Endpoint = {
  GET: (_url, _request, { configuration }) => configuration.settings(),
  async PUT(_, request, { configuration, broadcast }) {
    const settings = await configuration.set(await jsonOf(request));
    broadcast.announce('settings');
    return settings;
  },
};

/** `/-/appearance`: the language and theme of the pages that the gateway generates. */
export const appearance: Endpoint = {
  GET: (_url, _request, { appearance }) => appearance.get(),
  async PUT(_, request, { appearance }) {
    await appearance.set(await bodyOf(request, appearanceSchema));
  },
};

const peerToTest = s.object({ url: v.unknown() });

export const testPeer: Endpoint = {
  async POST(_, request, { effective: { config }, deployment: { origin } }) {
    const { url } = await bodyOf(request, peerToTest, 'BAD_CONFIG');
    const peer = PeerUrl.parse(url, origin, 'url');
    return { url: peer.id, ...(await probePeer(peer, config.transport, request.signal)) };
  },
};

const resetScope = s.object({ chunks: v.optional(v.boolean()) });

/** `/-/reset`: deletes the settings and the records about sites. With `chunks` it also deletes the chunks and pins. */
export const reset: Endpoint = {
  async POST(_, request, context) {
    const { configuration, trust, manifests, pointers, library, store, origins, endTrust, appearance } =
      context;
    const { activity, broadcast, stats, recentFiles } = context;
    const { chunks = false } = await bodyOf(request, resetScope);
    // The pins stop first, because work in progress would store some of the data again.
    if (chunks) await library.pins.close();
    stats.reset();
    const cleared = [activity, appearance, trust, manifests, pointers, library.visits, origins, recentFiles];
    await Promise.all([...cleared.map((each) => each.clear()), chunks && store.clear()]);
    if (chunks) library.pins.announce();
    // This step is last, so that the next request gets a gateway without the deleted state.
    await configuration.reset();
    broadcast.announce('settings');
    endTrust();
  },
};

function hexOf(addresses: ReadonlyMap<string, Address>): Record<string, string> {
  return Object.fromEntries(Array.from(addresses, ([name, { hex }]) => [name, hex]));
}

function asJson(config: Config): Record<string, unknown> {
  return {
    peers: config.peers.map(String),
    usePeersOfPeers: config.usePeersOfPeers,
    transport: config.transport,
    useNodes: config.useNodes,
    nodes: config.nodes,
    isolation: config.isolation,
    names: hexOf(config.names),
    trusted: [...config.trusted],
    denied: [...config.denied],
    reportUrl: config.reportUrl,
    sample: config.sample,
    catalogue: config.catalogue,
    lists: hexOf(config.lists),
    nameLists: hexOf(config.nameLists),
    publicGateways: config.publicGateways,
    cache: config.cache,
  };
}
