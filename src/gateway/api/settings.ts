import type { Config } from '../../config.ts';
import { AntwayError } from '../../errors.ts';
import { isLanguage, languages } from '../../languages.ts';
import { PeerUrl } from '../../peer-url.ts';
import { probePeer } from '../../peers/probe.ts';
import { isTheme, themes } from '../../themes.ts';
import { jsonOf, objectOf } from './body.ts';
import type { Endpoint } from './endpoint.ts';

/** `/-/config`: the effective config, and the source of each part. */
export const config: Endpoint = {
  GET: (_url, _request, { effective: { config, sources }, configuration }) => ({
    ...asJson(config),
    sources,
    problem: configuration.problem,
  }),
};

/** `/-/settings`: the user settings. */
export const settings: Endpoint = {
  GET: (_url, _request, { configuration }) => configuration.settings(),
  PUT: async (_, request, { configuration }) => configuration.set(await jsonOf(request)),
};

/** `/-/appearance`: the language and theme of the pages that the gateway generates. */
export const appearance: Endpoint = {
  GET: (_url, _request, { appearance }) => appearance.get(),
  async PUT(_, request, { appearance }) {
    const { language, theme } = objectOf(await jsonOf(request));
    if (language !== null && !isLanguage(language)) {
      throw new AntwayError('REFUSED', `“language” is null or one of ${languages.join(', ')}.`);
    }
    if (theme !== null && !isTheme(theme)) {
      throw new AntwayError('REFUSED', `“theme” is null or one of ${themes.join(', ')}.`);
    }
    await appearance.set({ language, theme });
  },
};

/** `/-/test-peer`: tries a peer. */
export const testPeer: Endpoint = {
  async POST(_, request, { effective: { config }, deployment: { origin } }) {
    const { url } = objectOf(await jsonOf(request));
    const peer = PeerUrl.parse(url, origin, 'url');
    return { url: peer.id, ...(await probePeer(peer, config.transport, request.signal)) };
  },
};

/**
 * `/-/reset`: deletes the settings, decisions, visits, manifests, pointers and known origins. With `chunks`
 * it also deletes the chunks and pins.
 */
export const reset: Endpoint = {
  async POST(_, request, context) {
    const { configuration, trust, manifests, pointers, library, store, origins, endTrust, appearance } =
      context;
    const { chunks = false } = objectOf(await jsonOf(request));
    if (typeof chunks !== 'boolean') throw new AntwayError('REFUSED', '“chunks” is true or false.');
    // The pins stop first, because work in progress would store some of the data again.
    if (chunks) await library.pins.close();
    const kept = [appearance, trust, manifests, pointers, library.visits, origins];
    await Promise.all([...kept.map((each) => each.clear()), chunks && store.clear()]);
    if (chunks) library.pins.announce();
    // This step is last, so that the next request gets a gateway without the deleted state.
    await configuration.reset();
    endTrust();
  },
};

function asJson(config: Config): Record<string, unknown> {
  return {
    peers: config.peers.map(String),
    usePeersOfPeers: config.usePeersOfPeers,
    transport: config.transport,
    isolation: config.isolation,
    names: Object.fromEntries(Array.from(config.names, ([name, address]) => [name, address.hex])),
    trusted: [...config.trusted],
    denied: [...config.denied],
    cache: config.cache,
  };
}
