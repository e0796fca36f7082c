import { Address } from '../address.ts';
import { buildHash } from '../build.ts';
import type { ChunkStore } from '../chunks/store.ts';
import { type Config, formatPeer, parsePeer } from '../config.ts';
import type { Resolver } from '../content/resolver.ts';
import { AntwayError } from '../errors.ts';
import { isLanguage, languages } from '../languages.ts';
import type { Library, Site } from '../library/library.ts';
import { parseVisit } from '../library/visits.ts';
import { limits } from '../limits.ts';
import { probePeer } from '../peers/probe.ts';
import type { Stats } from '../stats/stats.ts';
import { Trace } from '../stats/trace.ts';
import { isTheme, themes } from '../themes.ts';
import { version } from '../version.ts';
import type { StatsBroadcast } from './api/broadcast.ts';
import { receiveSettings, settingsForSite } from './api/site-exchange.ts';
import type { GatewayPeers } from './create-gateway.ts';
import type { Deployment } from './deployment.ts';
import { contentDisposition } from './http/disposition.ts';
import { apiHeaders } from './http/policy.ts';
import { respond } from './http/representation.ts';
import type { SiteHost } from './origins/site-host.ts';
import { readerOf } from './pages/reader.ts';
import { confirmation } from './pages/trust-question.ts';
import type { ChosenAppearance } from './state/appearance.ts';
import type { Configuration, EffectiveConfig } from './state/configuration.ts';
import type { ManifestStore } from './state/manifest-store.ts';
import type { PointerStore } from './state/pointer-store.ts';
import { type SiteOrigins, siteReport } from './state/site-origins.ts';
import type { Decision, Trust } from './state/trust.ts';
import type { TrustTokens } from './state/trust-tokens.ts';

export interface ApiContext {
  deployment: Deployment;
  /** What the user chose for the looks of pages. */
  appearance: ChosenAppearance;
  /** Of the open questions whether a site may run scripts. */
  tokens: TrustTokens;
  inForce: EffectiveConfig;
  configuration: Configuration;
  store: ChunkStore;
  peers: GatewayPeers;
  resolver: Resolver;
  stats: Stats;
  broadcast: StatsBroadcast;
  library: Library;
  trust: Trust;
  manifests: ManifestStore;
  pointers: PointerStore;
  /** On the gateway's own origin: the origins of sites. */
  origins: SiteOrigins;
  /** Gives this origin's chunk store what the origins of sites leave of the user's limit. */
  limitStore(): Promise<void>;
  /** Ends what open pages do with the trust that an address had, or with that of all addresses. Does not wait for it. */
  endTrust(address?: Address): void;
  /** Asks the browser to wake the worker when there is a network, where it does that. */
  wakeLater(): void;
  /** Keeps the worker alive until the promise is done. */
  waitUntil(work: Promise<unknown>): void;
}

/** An endpoint's methods. What they return is sent as JSON, or as it is when it is a `Response`. */
type Endpoint = Partial<Record<string, (url: URL, request: Request, context: ApiContext) => unknown>>;

/** `/-/…`: by these the shell learns what the worker does, and tells it what the user decided. */
const endpoints: Record<string, Endpoint> = {
  stats: {
    GET(url, _, { stats, broadcast }) {
      if (url.searchParams.has('watch')) broadcast.watch();
      return stats.snapshot();
    },
  },
  cache: {
    GET: async (_url, _request, { store }) => ({ ...(await store.summary()), ...(await browserStorage()) }),
  },
  peers: { GET: (_url, _request, { peers }) => ({ peers: peers.describe() }) },
  health: { GET: () => ({ status: 'ok', gateway: 'antway', version, build: buildHash }) },
  config: {
    GET: (_url, _request, { inForce: { config, sources }, configuration }) => ({
      ...asJson(config),
      sources,
      problem: configuration.problem,
    }),
  },
  settings: {
    GET: (_url, _request, { configuration }) => configuration.settings(),
    PUT: async (_, request, { configuration }) => configuration.set(await jsonOf(request)),
  },
  'test-peer': {
    async POST(_, request, { inForce: { config }, deployment: { origin } }) {
      const { url } = objectOf(await jsonOf(request));
      const peer = parsePeer(url, origin, 'url');
      return { url: peer.url, ...(await probePeer(peer, config.transport, request.signal)) };
    },
  },
  reset: {
    async POST(_, request, context) {
      const { configuration, trust, manifests, pointers, library, store, origins, endTrust, appearance } =
        context;
      const { chunks = false } = objectOf(await jsonOf(request));
      if (typeof chunks !== 'boolean') throw new AntwayError('REFUSED', '“chunks” is true or false.');
      // Before anything goes: what is under way would bring some of it back.
      if (chunks) await library.pins.close();
      const kept = [appearance, trust, manifests, pointers, library.visits, origins];
      await Promise.all([...kept.map((each) => each.clear()), chunks && store.clear()]);
      if (chunks) library.pins.announce();
      // Last: then the next request meets a gateway that remembers nothing of it.
      await configuration.reset();
      endTrust();
    },
  },
  sites: {
    async GET(_url, _request, { library, origins, trust }) {
      const [sites, known, decisions] = await Promise.all([
        listed(library.list()),
        listed(origins.list()),
        trust.list().catch(() => []),
      ]);
      const ready = new Map(
        known.filter(({ readyAt }) => readyAt !== null).map((each) => [each.address, each]),
      );
      const restricted = new Set(
        decisions.filter(({ decision }) => decision === 'restricted').map(({ address }) => address),
      );
      const withOrigin = (site: Site) => {
        const origin = ready.get(site.address);
        const { chunks, bytes, pin = null, offline = false, persisted = null } = origin?.report ?? {};
        const stored = chunks && bytes && { chunks, bytes, offline, pin: pin ?? site.pin };
        const isWithoutScripts = restricted.has(site.address);
        return { ...site, ...stored, hasOwnOrigin: origin !== undefined, isWithoutScripts, persisted };
      };
      return { sites: sites.map(withOrigin) };
    },
    async DELETE(url, _, { library, manifests, resolver }) {
      const address = addressIn(url);
      if (await library.forget(address)) return;
      await manifests.remove(address);
      resolver.forget(address);
    },
  },
  appearance: {
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
  },
  visits: {
    async POST(_, request, { library }) {
      const visit = parseVisit(await jsonOf(request));
      const before = await library.visits.get(Address.fromHex(visit.address));
      if (!before || (before.lastOpened ?? 0) < (visit.lastOpened ?? 0)) await library.visited(visit);
    },
    async DELETE(url, _, { library }) {
      await library.forgetVisit(addressIn(url));
    },
  },
  pins: {
    async GET(url, _, { library, broadcast }) {
      if (url.searchParams.has('watch')) broadcast.watch();
      return { pins: await library.pins.list() };
    },
    async POST(_, request, { library, wakeLater }) {
      const { address: text, action } = objectOf(await jsonOf(request));
      const address = Address.fromHex(required(text, 'address'));
      if (!isPinAction(action)) {
        throw new AntwayError('REFUSED', `“action” is one of ${pinActions.join(', ')}.`);
      }
      const state = await library.pins[action](address);
      wakeLater();
      return { address: address.hex, ...state };
    },
    DELETE: (url, _, { library }) => library.unpin(addressIn(url)),
  },
  export: {
    async GET(url, request, { library, waitUntil }) {
      const address = addressIn(url);
      const source = await library.export(address);
      const headers = {
        ...apiHeaders(),
        'Content-Type': 'application/x-tar',
        'Content-Disposition': contentDisposition('attachment', `${address.hex}.antway.tar`),
      };
      let ended = () => {};
      // The worker lives until the last byte is taken.
      waitUntil(new Promise<void>((resolve) => (ended = resolve)));
      const representation = { source, etag: `"${address.hex}.site"`, headers };
      return respond(
        representation,
        request,
        request.signal,
        { sent() {}, ended: () => ended() },
        new Trace(),
      ).catch((error) => {
        ended();
        throw error;
      });
    },
  },
  import: {
    // Browsers without `Request.body` keep it in a file until it is read.
    POST: async (_, request, { library }) => library.import(request.body ?? (await request.blob()).stream()),
  },
  trust: {
    GET: (_url, _request, { trust }) => listed(trust.list()),
    POST: (_, request, context) =>
      (request.mode === 'navigate' ? decideByForm : decideByJson)(request, context),
    async DELETE(url, _, { trust, endTrust }) {
      const address = addressIn(url);
      await trust.revoke(address);
      endTrust(address);
    },
  },
  manifests: {
    GET: (url, _request, { manifests }) =>
      url.searchParams.has('id') ? manifestOf(url, manifests) : listed(manifests.list()),
    async POST(url, request, { manifests }) {
      const bytes = await bodyOf(request);
      return url.searchParams.has('check') ? manifests.describe(bytes) : manifests.add(bytes);
    },
    async DELETE(url, _, { manifests, resolver }) {
      const id = Address.fromHex(required(url.searchParams.get('id'), 'id'));
      await manifests.remove(id);
      resolver.forget(id);
    },
  },
  origins: {
    GET: async (url, _request, context) =>
      url.searchParams.has('address')
        ? settingsForSite(addressIn(url), context)
        : { origins: await listed(context.origins.list()) },
    async POST(_, request, context) {
      const { address: text } = objectOf(await jsonOf(request));
      const address = Address.fromHex(required(text, 'address'));
      const { origins } = context;
      if (!(await origins.get(address).catch(() => undefined))) {
        await origins.put(address, {}).catch(() => undefined);
      }
      return settingsForSite(address, context);
    },
    async PUT(_, request, { origins, library, broadcast, limitStore }) {
      const { address: text, report: given, settingsId } = objectOf(await jsonOf(request));
      const address = Address.fromHex(required(text, 'address'));
      const report = siteReport(given);
      if (given !== undefined && !report) {
        throw new AntwayError('REFUSED', '“report” is not what a site says of itself.');
      }
      const known = await origins.get(address);
      const readyAt = known?.readyAt ?? Date.now();
      await origins.put(address, {
        readyAt,
        ...(report && { report }),
        ...(typeof settingsId === 'string' && { settingsId }),
      });
      if (report) await limitStore();
      // A direct link led there. Pages can open the origin of any address; it is listed once there is content.
      const isFirstContent = report?.bytes.stored && !known?.report?.bytes.stored;
      if (isFirstContent && !(await library.visits.get(address))) {
        const { hex } = address;
        const visit = { address: hex, path: `/${hex}/`, name: null, title: null, icon: null };
        await library.visits.add({ ...visit, kind: 'archive', lastOpened: readyAt });
      }
      broadcast.announce('visits');
    },
    async DELETE(url, _, { origins, broadcast }) {
      await origins.remove(addressIn(url));
      broadcast.announce('visits');
    },
  },
  origin: {
    async GET(_url, _request, { library, store, deployment }) {
      const { address } = siteOf(deployment);
      const [share, { bytes }, { persisted }] = await Promise.all([
        library.share(address),
        store.summary(),
        browserStorage(),
      ]);
      return { address: address.hex, ...share, storedBytes: bytes, persisted };
    },
    PUT: (_url, request, context) => receiveSettings(siteOf(context.deployment).address, request, context),
  },
};

/** @throws AntwayError `NOT_FOUND` on the gateway's own origin. */
function siteOf({ site }: Deployment): SiteHost {
  if (site) return site;
  throw new AntwayError('NOT_FOUND', 'There is no endpoint /-/origin on the gateway’s own origin.');
}

async function manifestOf({ searchParams }: URL, manifests: ManifestStore): Promise<Response> {
  const bytes = await manifests.get(Address.fromHex(required(searchParams.get('id'), 'id')));
  if (!bytes) throw new AntwayError('NOT_FOUND', 'No such manifest is stored on this device.');
  return new Response(bytes, {
    headers: { ...apiHeaders(), 'Content-Type': 'application/vnd.autonomi.manifest' },
  });
}

/** How long the shell waits for what an address leads to, in milliseconds. */
const resolveMs = 5_000;

/** The forms of the question are checked by their tokens. */
const takesForms = new Set(['trust']);

/**
 * Answers `/-/<name>`.
 * @throws AntwayError `NOT_FOUND` for an unknown endpoint, `METHOD`, or what the endpoint throws.
 */
export async function answerApi(name: string, request: Request, context: ApiContext): Promise<Response> {
  const endpoint = Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
  if (!endpoint) throw new AntwayError('NOT_FOUND', `There is no endpoint /-/${name}.`);
  const method = endpoint[request.method === 'HEAD' ? 'GET' : request.method];
  if (!method) {
    const allow = Object.keys(endpoint)
      .flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name))
      .join(', ');
    throw new AntwayError('METHOD', `/-/${name} does not take ${request.method}.`, { allow });
  }
  // Any page of the web can make a form that leads here; only the shell can fetch.
  if (request.method === 'POST' && request.mode === 'navigate' && !takesForms.has(name)) {
    throw new AntwayError('REFUSED', `/-/${name} does not take forms.`);
  }
  const result = await method(new URL(request.url), request, context);
  if (result instanceof Response) return result;
  if (result === undefined) return new Response(null, { status: 204, headers: apiHeaders() });
  return new Response(request.method === 'HEAD' ? null : JSON.stringify(result), {
    headers: { ...apiHeaders(), 'Content-Type': 'application/json' },
  });
}

/** Where the browser keeps nothing, there is nothing in a list. `/-/cache` tells that it is so. */
async function listed<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list;
  } catch (error) {
    if (!(error instanceof AntwayError && error.details.isBlocked)) throw error;
    return [];
  }
}

/**
 * The forms of the question. Its first page decides for “without scripts”, or leads to the confirmation, which alone can
 * trust. An answer that comes too late leads to the question again.
 */
async function decideByForm(request: Request, { trust, tokens, appearance }: ApiContext): Promise<Response> {
  refuseForeignForm(request);
  const form = await request.formData();
  const field = (name: string) => required(form.get(name), name);
  const { origin } = new URL(request.url);
  const next = new URL(field('return'), origin);
  if (next.origin !== origin) throw new AntwayError('REFUSED', 'The form leads away from the gateway.');
  const goOn = () => new Response(null, { status: 303, headers: { ...apiHeaders(), Location: next.href } });
  const grant = tokens.take(field('token'));
  if (!grant) {
    tokens.noteOutdated(next.pathname + next.search);
    return goOn();
  }
  const { address, content, step } = grant;
  const choice = field('decision');
  if (choice === 'confirm') {
    const path = next.pathname + next.search + next.hash;
    const reader = await readerOf(request, appearance);
    return confirmation({ ...grant, step: 'confirmation' }, path, reader, tokens);
  }
  if (choice !== 'restricted' && step !== 'confirmation') {
    throw new AntwayError('REFUSED', 'Trust in a site has to be confirmed.');
  }
  const decision = decisionOf(choice === 'owner' ? 'trusted' : choice);
  await trust.decide(address, decision, choice === 'owner' ? null : content);
  return goOn();
}

/**
 * Refuses what browsers tell of another page's form. The token is what protects: not every browser tells it to a worker.
 * @throws AntwayError `REFUSED`.
 */
function refuseForeignForm({ url, headers, referrer }: Request): void {
  const { origin } = new URL(url);
  const isForeign = (page: string) => page !== '' && (!URL.canParse(page) || new URL(page).origin !== origin);
  const site = headers.get('Sec-Fetch-Site') ?? 'same-origin';
  if (isForeign(headers.get('Origin') ?? '') || isForeign(referrer) || site !== 'same-origin') {
    throw new AntwayError('REFUSED', 'This form was not made by the gateway.');
  }
}

/** The shell's own request: `{address, decision, allVersions?}`. */
async function decideByJson(request: Request, { trust, resolver, endTrust }: ApiContext): Promise<void> {
  const body = objectOf(await jsonOf(request));
  const address = Address.fromHex(required(body.address, 'address'));
  const decision = decisionOf(body.decision);
  const { allVersions = false } = body;
  if (typeof allVersions !== 'boolean') throw new AntwayError('REFUSED', '“allVersions” is true or false.');
  const isBound = decision === 'trusted' && !allVersions;
  await trust.decide(address, decision, isBound ? await contentOf(address, resolver) : null);
  if (decision === 'restricted') endTrust(address);
}

/**
 * Where an address leads to now. When that cannot be told, it is taken for no pointer's: of a pointer, trust then holds
 * for nothing, and the gateway asks.
 */
async function contentOf(address: Address, resolver: Resolver): Promise<Address> {
  try {
    return (await resolver.locate(address, AbortSignal.timeout(resolveMs))).address;
  } catch {
    return address;
  }
}

function decisionOf(value: unknown): Decision {
  if (value === 'trusted' || value === 'restricted') return value;
  throw new AntwayError('REFUSED', 'A decision is “trusted” or “restricted”.');
}

const pinActions = ['pin', 'pause', 'resume', 'verify'] as const;

function isPinAction(value: unknown): value is (typeof pinActions)[number] {
  return (pinActions as readonly unknown[]).includes(value);
}

/** @throws AntwayError `REFUSED` when it is missing, `BAD_ADDRESS` when it is none. */
function addressIn({ searchParams }: URL): Address {
  return Address.fromHex(required(searchParams.get('address'), 'address'));
}

function required(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new AntwayError('REFUSED', `“${name}” is missing.`);
}

/** The body's value. @throws AntwayError `REFUSED`. */
async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch (cause) {
    throw new AntwayError('REFUSED', 'The body is not JSON.', {}, { cause });
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

async function bodyOf(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length <= limits.manifestBytes) return bytes;
  throw new AntwayError('TOO_LARGE', `A manifest has at most ${limits.manifestBytes} bytes.`);
}

function asJson(config: Config): Record<string, unknown> {
  return {
    peers: config.peers.map(formatPeer),
    usePeersOfPeers: config.usePeersOfPeers,
    transport: config.transport,
    isolation: config.isolation,
    names: Object.fromEntries(Array.from(config.names, ([name, address]) => [name, address.hex])),
    trusted: [...config.trusted],
    denied: [...config.denied],
    cache: config.cache,
  };
}

/** What the browser says of this origin's storage; null where it does not tell. */
async function browserStorage(): Promise<{ quota: number | null; usage: number | null; persisted: boolean }> {
  const storage: Partial<StorageManager> | undefined = globalThis.navigator?.storage;
  const { quota = null, usage = null } = (await storage?.estimate?.()) ?? {};
  return { quota, usage, persisted: (await storage?.persisted?.()) ?? false };
}
