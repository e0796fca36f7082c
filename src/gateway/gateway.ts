import type { Address } from '../address.ts';
import { Chunks } from '../chunks/chunks.ts';
import type { IndexedDbStore } from '../chunks/indexed-db-store.ts';
import type { Config } from '../config.ts';
import { Resolver } from '../content/resolver.ts';
import { AntwayError, asAntwayError, type ErrorCode, isAbort } from '../errors.ts';
import { Library } from '../library/library.ts';
import { limits } from '../limits.ts';
import { PeerPool } from '../peers/pool.ts';
import { Codec, type CodecPlatform } from '../self-encryption/codec.ts';
import type { Stats } from '../stats/stats.ts';
import { Trace } from '../stats/trace.ts';
import type { Configuration, InForce } from './configuration.ts';
import { answerContent } from './content-response.ts';
import { canRunScripts, typeOfName } from './content-type.ts';
import { errorResponse, isNavigation } from './error-response.ts';
import { answerInternal } from './internal.ts';
import { question } from './interstitial.ts';
import { type Kept, keptOf, localResolver } from './kept.ts';
import { ManifestStore } from './manifest-store.ts';
import { OwnOrigins } from './own-origins.ts';
import { withShim } from './own-worker-shim.ts';
import { KeptPointers } from './pointer-memory.ts';
import { dependsOnClient, type Mode, type PolicyRequest, redirectHeaders } from './policy.ts';
import { readerOf } from './reader.ts';
import { type BodyObserver, type Representation, respond } from './representation.ts';
import { asDataHeader, isPageForScript } from './script-request.ts';
import { settings } from './settings.ts';
import type { SiteNames } from './site-names.ts';
import { SiteOrigins } from './site-origins.ts';
import type { StatsBroadcast } from './stats-broadcast.ts';
import { type ContentTarget, isEmbedded, parseTarget, type Target } from './target.ts';
import { type DecisionFor, Trust } from './trust.ts';
import type { TrustGrant } from './trust-tokens.ts';
import { noteVisit } from './visit.ts';

/** What the worker knows of a request that the request does not tell. */
export interface RequestContext {
  /** Keeps the worker alive until the promise is done. */
  waitUntil(work: Promise<unknown>): void;
  /** Whether the request may use `/-/…`: it comes from the shell and not from content. */
  isFromShell(): Promise<boolean>;
  /** URL of the page or worker that asks; undefined for a navigation, and if it is gone. */
  clientUrl(): Promise<string | undefined>;
  /** Asks the browser to wake the worker when there is a network, where it does that. */
  wakeLater(): void;
  /** On a site's own origin: the page that fetches the user's settings before the first content is shown. */
  sitePage?(): Promise<Response>;
  /**
   * Loads the open pages anew whose URL `isOf` accepts, so that none goes on with rights that it no longer has.
   * @param path what is loaded in their place; the same pages if not given.
   */
  reloadPages?(isOf: (url: URL) => boolean, path?: string): Promise<void>;
  /** Checks the shell's cached files again: a page that was trusted until now may have changed them. */
  recheckFiles?(): Promise<void>;
}

export interface GatewayOptions {
  inForce: InForce;
  /** Where `inForce` comes from, and where the person changes it. */
  configuration: Configuration;
  platform: CodecPlatform;
  /** The one of the worker, whatever the configuration. */
  store: IndexedDbStore;
  stats: Stats;
  broadcast: StatsBroadcast;
  /** Path that the gateway's URLs begin with, as for `parseTarget`; `/` if not given. */
  base?: string;
  /** On the gateway's own origin: finds out whether sites can have origins of their own. */
  siteNames?: SiteNames | undefined;
}

/** What goes with a request on its way to an answer. */
interface Observed {
  signal: AbortSignal;
  observer: BodyObserver;
  trace: Trace;
}

const methods = ['GET', 'HEAD', 'OPTIONS'];

/** Request in, response out: the part of Antway that a browser sees. */
export class Gateway {
  readonly #config: Config;
  readonly #inForce: InForce;
  readonly #configuration: Configuration;
  readonly #stats: Stats;
  readonly #store: IndexedDbStore;
  readonly #peers: PeerPool;
  readonly #resolver: Resolver;
  /** Sees only what is stored here. */
  readonly #local: Resolver;
  readonly #broadcast: StatsBroadcast;
  readonly #manifests: ManifestStore;
  readonly #trust: Trust;
  readonly #library: Library;
  readonly #pointers = new KeptPointers();
  readonly #base: string;
  readonly #origins = new SiteOrigins();
  /** Where sites can have origins of their own, which ones do. */
  readonly #ownOrigins: OwnOrigins | undefined;

  constructor({
    inForce,
    configuration,
    platform,
    store,
    stats,
    broadcast,
    base = '/',
    siteNames: names,
  }: GatewayOptions) {
    const { config } = inForce;
    if (isEmbedded(base) && config.isolation === 'subdomain') {
      throw new AntwayError(
        'BAD_CONFIG',
        'isolation: on a site that embeds the gateway it is always “path”.',
        {
          key: 'isolation',
        },
      );
    }
    this.#base = base;
    this.#config = config;
    this.#inForce = inForce;
    this.#configuration = configuration;
    this.#stats = stats;
    this.#broadcast = broadcast;
    this.#trust = new Trust(config.trusted);
    this.#store = store;
    this.#peers = new PeerPool(config.peers, stats, config);
    const codec = new Codec(platform);
    this.#manifests = new ManifestStore(() => codec.blake3());
    const { memoryBytes } = config.cache;
    const chunks = new Chunks({ codec, store: this.#store, peers: this.#peers, stats, memoryBytes });
    this.#resolver = new Resolver(chunks, {
      manifests: this.#manifests,
      pointers: this.#pointers,
      denied: config.denied,
    });
    this.#local = localResolver({ codec, store, manifests: this.#manifests, denied: config.denied });
    this.#library = new Library({
      store,
      chunks,
      manifests: this.#manifests,
      denied: config.denied,
      stats,
      settings,
      onPins: () => broadcast.report('pins', () => this.#library.pins.list()),
      onVisits: () => broadcast.announce('visits'),
    });
    if (names && config.isolation === 'auto') {
      this.#ownOrigins = new OwnOrigins({
        origin: configuration.origin,
        names,
        origins: this.#origins,
        library: this.#library,
        manifests: this.#manifests,
        trust: this.#trust,
      });
    }
    this.#limitStore().catch((error) => console.warn('antway: the store’s limit is not set', error));
  }

  /**
   * Answers a request of this worker's origin. Never rejects: every error becomes an answer.
   * @returns undefined for what is not the gateway's: the shell and its assets.
   */
  handle(request: Request, context: RequestContext): Promise<Response> | undefined {
    try {
      const target = parseTarget(new URL(request.url), this.#config, this.#base);
      switch (target.kind) {
        case 'other':
          return undefined;
        case 'internal':
          this.#goOnWithPins(context);
          return this.#internal(target.name, request, context);
        case 'elsewhere':
          return this.#elsewhere(target, request, context);
        case 'content':
          this.#goOnWithPins(context);
          return this.#content(target.content, request, context);
      }
    } catch (error) {
      return errorResponse(asAntwayError(error), request, this.#base);
    }
  }

  /**
   * Works on the pins until nothing can be done for now.
   * @returns whether all are done.
   */
  async workOnPins(): Promise<boolean> {
    this.#library.pins.encourage();
    await this.#library.pins.work();
    return !(await this.#library.pins.isUnfinished());
  }

  /** There is a network again: what peers failed to do without one is not held against them. */
  wake(): void {
    this.#peers.wake();
  }

  /** A worker lives as long as it is asked for something, and so long it works on the pins. */
  #goOnWithPins(context: RequestContext): void {
    context.waitUntil(this.#library.pins.work());
  }

  /** Another configuration takes over. What is under way may go on; what begins anew does so there. */
  handOver(): void {
    void this.#library.pins.close();
  }

  /** Ends the sessions with peers. */
  close(): void {
    this.#peers.close();
  }

  async #internal(name: string, request: Request, context: RequestContext): Promise<Response> {
    try {
      // Before the first content of a site is shown, whatever page is there is the gateway's.
      const isFirst = name === 'origin' && request.method === 'PUT' && this.#isUntoldSite;
      if (!isFirst && !(await context.isFromShell())) {
        throw new AntwayError('REFUSED', 'These endpoints are for the gateway’s own pages only.');
      }
      if (name === 'trust' && isEmbedded(this.#base)) {
        throw new AntwayError(
          'REFUSED',
          'What may run scripts here is decided by this site’s configuration.',
        );
      }
      return await answerInternal(name, request, {
        inForce: this.#inForce,
        configuration: this.#configuration,
        store: this.#store,
        peers: this.#peers,
        resolver: this.#resolver,
        stats: this.#stats,
        broadcast: this.#broadcast,
        library: this.#library,
        wakeLater: () => context.wakeLater(),
        waitUntil: (work) => context.waitUntil(work),
        trust: this.#trust,
        manifests: this.#manifests,
        pointers: this.#pointers,
        origins: this.#origins,
        limitStore: () => this.#limitStore(),
        endTrust: (address) => this.#endTrust(address, context),
      });
    } catch (error) {
      return errorResponse(asAntwayError(error), request, this.#base);
    }
  }

  /** Whether this is a site's own origin that knows nothing of the user's settings yet. */
  get #isUntoldSite(): boolean {
    return this.#configuration.received !== undefined && !this.#inForce.received;
  }

  /** One limit covers the chunk stores of all origins: what sites store on theirs is not available here. */
  async #limitStore(): Promise<void> {
    const elsewhere = await this.#origins.storedBytes();
    const least = Math.min(limits.leastStoreBytes, this.#config.cache.maxBytes);
    await this.#store.setMaxBytes(Math.max(this.#config.cache.maxBytes - elsewhere, least));
  }

  /**
   * Ends what pages of an address do with its trust, or those of all addresses. The answer does not wait: a page of the
   * gateway's own may be among them.
   */
  #endTrust(address: Address | undefined, context: RequestContext): void {
    const isOf = (url: URL): boolean => {
      try {
        const target = parseTarget(url, this.#config, this.#base);
        if (target.kind !== 'content' && target.kind !== 'elsewhere') return false;
        return !address || target.content.address.hex === address.hex;
      } catch {
        return false; // no page of any address has such a URL
      }
    };
    // After a reset, a page that came again would count as a visit.
    const path = address ? undefined : '/';
    const ending = Promise.all([context.reloadPages?.(isOf, path), context.recheckFiles?.()]);
    context.waitUntil(
      ending.catch((error) => console.warn('antway: pages of the former trust are still open', error)),
    );
  }

  /** Only a manifest that is kept on this origin is answered here whatever the mode: no other origin has it. */
  async #elsewhere(
    { location, isPermanent, content }: Extract<Target, { kind: 'elsewhere' }>,
    request: Request,
    context: RequestContext,
  ): Promise<Response> {
    if (!content.isIsolated && (await this.#manifests.get(content.address))) {
      return this.#content(content, request, context);
    }
    return redirect(location, isPermanent ? 301 : 302, redirectHeaders(false));
  }

  async #content(target: ContentTarget, request: Request, context: RequestContext): Promise<Response> {
    const { signal, observer } = this.#observe(request, context);
    const trace = new Trace(new URL(request.url).pathname);
    let response: Response;
    try {
      admit(request);
      response = await this.#answer(target, request, context, { signal, observer, trace });
    } catch (error) {
      const failure = asAntwayError(error);
      observer.ended(isAbort(error, signal) ? undefined : failure.code);
      observer.left?.(error);
      failure.details.address ??= target.address.hex;
      // What a person can do depends on how much is missing.
      if (failure.code === 'OFFLINE' || failure.code === 'PEERS_UNREACHABLE') {
        failure.details.kept = await this.#kept(target);
      }
      response = await errorResponse(failure, request, this.#base);
    }
    // Last: what came before the first byte is in it.
    response.headers.set('Server-Timing', trace.serverTiming());
    return response;
  }

  async #answer(
    target: ContentTarget,
    request: Request,
    context: RequestContext,
    { signal, observer, trace }: Observed,
  ): Promise<Response> {
    if (request.method === 'OPTIONS') return done(observer, methodsOf());
    const isTopLevel = request.mode === 'navigate' && request.destination === 'document';
    // While the document comes from the store, sessions open that the rest of the page may need.
    if (isTopLevel) this.#peers.warm();
    const decisionFor = await this.#decision(target);
    if (isTopLevel && target.isIsolated && this.#isUntoldSite && context.sitePage) {
      return done(observer, await context.sitePage());
    }
    let content = target.address;
    let decision = decisionFor(content);
    const moved = isTopLevel && decision !== 'restricted' && (await this.#movedTo(target, request));
    if (moved) return done(observer, moved);
    const policy = await this.#policyRequest(target, request, context);
    const mayRunScripts = await this.#mayRunScripts(target);
    const answer = await answerContent(target, {
      resolver: this.#resolver,
      policyFor: (found) => {
        content = found;
        decision = decisionFor(found);
        return { ...policy, isTrusted: mayRunScripts && decision === 'trusted' };
      },
      isNavigation: isNavigation(request),
      accept: request.headers.get('Accept'),
      isHead: request.method === 'HEAD',
      range: request.headers.get('Range'),
      signal,
      trace,
      reader: () => readerOf(request),
    });
    if (answer.kind === 'redirect') {
      const headers = { ...answer.headers, ...redirectHeaders(isEmbedded(this.#base)) };
      return done(observer, redirect(answer.location, 301, headers));
    }
    const isOwnOriginDocument = target.isIsolated && isNavigation(request) && !request.headers.has('Range');
    const representation = isOwnOriginDocument
      ? await withShim(answer.representation, signal, trace)
      : answer.representation;
    // On the gateway's own origin only the shell runs scripts, and what the person trusts with all of it.
    if (
      isEmbedded(this.#base) &&
      decision !== 'trusted' &&
      isPageForScript(request, representation.headers['Content-Type'] ?? '')
    ) {
      throw new AntwayError(
        'REFUSED',
        `A script asks for a page from an address that may run none here. Navigate to it, or take it for data: by Antway.fetch, or with the header ${asDataHeader}.`,
      );
    }
    if (isTopLevel && decision !== 'restricted' && isScriptable(representation)) {
      const origin = !target.isIsolated && (await this.#ownOrigins?.of(target.address));
      if (origin) {
        this.#remember(target, request, representation, context);
        return done(observer, redirectToSite(origin, target, request));
      }
    }
    const mayAsk = decision === undefined && !(await this.#ownOrigins?.areAvailable());
    if (isTopLevel && mayAsk && isScriptable(representation)) {
      const { pathname, search } = new URL(request.url);
      const { address, name } = target;
      const grant: TrustGrant = { address, name, content, step: 'question' };
      return done(observer, question(grant, pathname + search, await readerOf(request)));
    }
    const response = await respond(representation, request, signal, observer, trace);
    if (isTopLevel && response.ok) this.#remember(target, request, representation, context);
    return response;
  }

  /**
   * A site that has an origin of its own, which opens without a network: what stands there is not asked here. What cannot
   * run scripts is shown here.
   */
  async #movedTo(target: ContentTarget, request: Request): Promise<Response | undefined> {
    const { address, path = '', query } = target;
    if (target.isIsolated || !this.#ownOrigins || this.#config.denied.has(address.hex)) return undefined;
    const type = typeOfName(path);
    if (['format', 'download'].some((key) => query.has(key)) || (type && !canRunScripts(type)))
      return undefined;
    const origin = await this.#ownOrigins.moved(address);
    if (!origin) return undefined;
    const visit = await this.#library.visits.get(address).catch(() => undefined);
    if (visit) await this.#library.visits.add({ ...visit, lastOpened: Date.now() }).catch(() => undefined);
    return redirectToSite(origin, target, request);
  }

  /** Whether documents of a site may run scripts on this origin if they are trusted. */
  async #mayRunScripts({ address, isIsolated }: ContentTarget): Promise<boolean> {
    if (isIsolated || !(await this.#ownOrigins?.areAvailable())) return true;
    return (await this.#ownOrigins?.isTrustedFromBefore(address)) ?? false;
  }

  /** Where storage is blocked a decision cannot be kept, so nobody is asked, and the site runs no scripts. */
  async #decision({ address, isIsolated }: ContentTarget): Promise<DecisionFor> {
    if (isIsolated) {
      const decision = this.#inForce.received?.runsScripts === false ? 'restricted' : 'trusted';
      return () => decision;
    }
    // Whoever runs scripts on another site's origin is that site: only its owner can allow it.
    if (isEmbedded(this.#base)) {
      return () => (this.#config.trusted.has(address.hex) ? 'trusted' : 'restricted');
    }
    try {
      return await this.#trust.decision(address);
    } catch (error) {
      console.warn('antway: decisions cannot be read', error);
      return () => 'restricted';
    }
  }

  async #policyRequest(
    target: ContentTarget,
    request: Request,
    context: RequestContext,
  ): Promise<Omit<PolicyRequest, 'isTrusted'>> {
    const mode: Mode = target.isIsolated ? 'own-origin' : isEmbedded(this.#base) ? 'embedded' : 'path';
    const { origin } = new URL(request.url);
    const policy = {
      mode,
      destination: request.destination,
      requestMode: request.mode,
      scope: {
        origin,
        pathPrefix: target.root + (target.path === undefined && target.root ? '' : '/'),
        workerPath: self.location.pathname,
      },
      targetAddress: target.address.hex,
    };
    const isNeeded = [true, false].some((isTrusted) => dependsOnClient({ ...policy, isTrusted }));
    if (!isNeeded) return policy;
    // Browsers tell no client of a navigation, but the page that leads there, unless that page forbids it.
    return {
      ...policy,
      clientAddress: this.#addressOf((await context.clientUrl()) ?? request.referrer, origin),
    };
  }

  /** @returns null for a page of this origin that is no content, undefined for everything else. */
  #addressOf(url: string, origin: string): string | null | undefined {
    if (!URL.canParse(url) || new URL(url).origin !== origin) return undefined;
    try {
      const target = parseTarget(new URL(url), this.#config, this.#base);
      return target.kind === 'content' || target.kind === 'elsewhere' ? target.content.address.hex : null;
    } catch {
      return undefined;
    }
  }

  async #kept(target: ContentTarget): Promise<Kept | undefined> {
    try {
      return await keptOf(target, { resolver: this.#local, library: this.#library, store: this.#store });
    } catch (error) {
      console.warn('antway: it cannot be told what is kept', error);
      return undefined;
    }
  }

  #remember(
    target: ContentTarget,
    request: Request,
    representation: Representation,
    context: RequestContext,
  ): void {
    // A site's own origin has no list of sites, and neither has one that embeds the gateway.
    if (target.isIsolated || isEmbedded(this.#base)) return;
    const { pathname } = new URL(request.url);
    const places = { resolver: this.#resolver, library: this.#library };
    const noted = noteVisit(target, pathname, representation, places);
    context.waitUntil(noted.catch((error) => console.warn('antway: the visit was not noted', error)));
  }

  /**
   * Counts a request, and keeps the worker alive until what was fetched for it is on disk.
   * @returns with a signal that aborts when the request does, and when nobody wants the rest of its body: browsers do not
   *   abort the request's own then.
   */
  #observe(request: Request, context: RequestContext): Pick<Observed, 'signal' | 'observer'> {
    this.#stats.requestStarted();
    const controller = new AbortController();
    const { signal } = controller;
    const onRequestAbort = () => controller.abort(request.signal.reason);
    if (request.signal.aborted) onRequestAbort();
    else request.signal.addEventListener('abort', onRequestAbort, { once: true });
    const startedAt = performance.now();
    let firstByteMs: number | undefined;
    let written = () => {};
    context.waitUntil(
      new Promise<void>((resolve) => {
        written = resolve;
      }),
    );
    let hasEnded = false;
    const ended = (failure?: ErrorCode) => {
      if (hasEnded) return;
      hasEnded = true;
      signal.removeEventListener('abort', onAbort);
      const totalMs = performance.now() - startedAt;
      // A redirect, or what was left before it came, says nothing of how fast bytes come.
      const isWhole = !failure && !signal.aborted && firstByteMs !== undefined;
      this.#stats.requestEnded(failure, isWhole ? { firstByteMs: firstByteMs!, totalMs } : undefined);
      this.#store.flush().then(written, written);
    };
    // A body that nobody reads or cancels any more tells nothing by itself.
    const onAbort = () => ended();
    signal.addEventListener('abort', onAbort);
    const sent = (bytes: number) => {
      firstByteMs ??= performance.now() - startedAt;
      this.#stats.served(bytes);
    };
    return { signal, observer: { sent, ended, left: (reason) => controller.abort(reason) } };
  }
}

/** @throws AntwayError `METHOD`, or `REFUSED` for content that is asked for as a worker's script. */
function admit(request: Request): void {
  if (!methods.includes(request.method)) {
    throw new AntwayError('METHOD', `${request.method} is not possible: content is read-only.`, {
      allow: methods.join(', '),
    });
  }
  if (request.headers.get('Service-Worker') === 'script') {
    throw new AntwayError('REFUSED', 'Content may not register a service worker on the gateway.');
  }
}

function done(observer: BodyObserver, response: Response): Response {
  observer.ended();
  return response;
}

function redirect(location: string, status: 301 | 302, headers: Record<string, string> = {}): Response {
  return new Response(null, { status, headers: { ...headers, Location: location } });
}

/** The same path on the site's own origin. Not for ever: the user may choose to open the site without scripts. */
function redirectToSite(origin: string, { root, search }: ContentTarget, request: Request): Response {
  const path = new URL(request.url).pathname.slice(root.length + 1);
  const headers = { ...redirectHeaders(false), 'Cache-Control': 'no-store' };
  return redirect(`${origin}/${path}${search}`, 302, headers);
}

/** Nothing about other origins: their requests never reach a service worker. */
function methodsOf(): Response {
  return new Response(null, { status: 204, headers: { Allow: methods.join(', ') } });
}

function isScriptable({ headers, isOwnPage }: Representation): boolean {
  const isDownload = headers['Content-Disposition']?.startsWith('attachment');
  return !isOwnPage && !isDownload && canRunScripts(headers['Content-Type'] ?? '');
}
