import type { PinningStore } from '../chunks/store.ts';
import type { Resolver } from '../content/resolver.ts';
import { AntwayError, asAntwayError, isAbort } from '../errors.ts';
import type { Library } from '../library/library.ts';
import { limits } from '../limits.ts';
import { reportUrlOf } from '../server-config.ts';
import type { Stats } from '../stats/stats.ts';
import { Trace } from '../stats/trace.ts';
import type { GatewayPeers } from './create-gateway.ts';
import type { Deployment } from './deployment.ts';
import { answerContent } from './http/content-response.ts';
import { canRunScripts, typeOfName } from './http/content-type.ts';
import { isNavigation, isTopLevelNavigation } from './http/navigation.ts';
import { type Observation, observe } from './http/observe-request.ts';
import { redirectHeaders } from './http/policy.ts';
import { type BodyObserver, type Representation, respond } from './http/representation.ts';
import { asDataHeader, isOfProgressPage, isPageForScript } from './http/script-request.ts';
import type { ContentTarget } from './http/target.ts';
import type { OwnOrigins } from './origins/own-origins.ts';
import { withWorkerShim } from './origins/own-worker-shim.ts';
import { errorResponse } from './pages/error-response.ts';
import { readerOf } from './pages/reader.ts';
import { question } from './pages/trust-question.ts';
import { policyRequestOf } from './policy-request.ts';
import type { RequestContext } from './request-context.ts';
import { SlowNavigations } from './slow-navigations.ts';
import type { ChosenAppearance } from './state/appearance.ts';
import { awaitsUserSettings, type EffectiveConfig } from './state/configuration.ts';
import type { ManifestStore } from './state/manifest-store.ts';
import { noteVisit } from './state/note-visit.ts';
import { type StoredParts, storedPartsOf } from './state/stored-share.ts';
import type { DecisionFor, Trust } from './state/trust.ts';
import type { TrustGrant, TrustTokens } from './state/trust-tokens.ts';

export interface ContentHandlerOptions {
  deployment: Deployment;
  effective: EffectiveConfig;
  appearance: ChosenAppearance;
  tokens: TrustTokens;
  stats: Stats;
  store: PinningStore;
  peers: Pick<GatewayPeers, 'warm' | 'describe' | 'lookups' | 'networks'>;
  resolver: Resolver;
  /** Resolves only data that is stored on this device. */
  local: Resolver;
  library: Library;
  trust: Trust;
  /** Undefined if sites cannot have own origins here. */
  ownOrigins: OwnOrigins | undefined;
  manifests: Pick<ManifestStore, 'has'>;
}

interface Observed extends Observation {
  trace: Trace;
  /** Whether another answer was sent in place of this one, because this one takes long. */
  isLate: boolean;
}

const methods = ['GET', 'HEAD', 'OPTIONS'];

export class ContentHandler {
  readonly #options: ContentHandlerOptions;
  readonly #slow: SlowNavigations;

  constructor(options: ContentHandlerOptions) {
    this.#options = options;
    this.#slow = new SlowNavigations(options);
  }

  /** Never rejects: every error becomes a response. Keeps the worker alive until the fetched chunks are on disk. */
  async handle(target: ContentTarget, request: Request, context: RequestContext): Promise<Response> {
    const { stats, store } = this.#options;
    let written = () => {};
    context.waitUntil(new Promise<void>((resolve) => (written = resolve)));
    const onEnd = () => store.flush().then(written, written);
    const { signal, observer } = observe(request, stats, onEnd);
    const trace = new Trace(new URL(request.url).pathname);
    const observed: Observed = { signal, observer, trace, isLate: false };
    const answering = this.#answerOrError(target, request, context, observed);
    const placeholder = await this.#slow.placeholderFor(answering, request, target);
    if (placeholder) this.#goOn(answering, observed);
    const response = placeholder ?? (await answering);
    // Set this header last, so that it includes all work before the first byte.
    response.headers.set('Server-Timing', trace.serverTiming());
    return response;
  }

  /** Continues behind the progress page for a while, so that the next request of its script joins this work. */
  #goOn(answering: Promise<Response>, observed: Observed): void {
    observed.isLate = true;
    const leave = () => observed.observer.left?.(new DOMException('Another page is shown.', 'AbortError'));
    const timer = setTimeout(leave, limits.progressMs.goOn);
    void answering.then(({ body }) => {
      clearTimeout(timer);
      return body?.cancel();
    });
  }

  /** Never rejects. */
  async #answerOrError(
    target: ContentTarget,
    request: Request,
    context: RequestContext,
    observed: Observed,
  ): Promise<Response> {
    const { signal, observer } = observed;
    try {
      admit(request);
      const known = isTopLevelNavigation(request) ? this.#slow.takeFailure(request) : undefined;
      if (known) throw known;
      return await this.#answer(target, request, context, observed);
    } catch (error) {
      const failure = asAntwayError(error);
      const isAborted = isAbort(error, signal);
      observer.ended(isAborted ? undefined : failure.code);
      observer.left?.(error);
      if (!isAborted && (observed.isLate || isOfProgressPage(request)))
        this.#slow.noteFailure(request, failure);
      failure.details.address ??= target.address.hex;
      await this.#addOptions(failure, target, request);
      return errorResponse(failure, request, this.#options);
    }
  }

  /** Adds what the user's options depend on: how much of the content is missing, and where the peers looked for it. */
  async #addOptions({ code, details }: AntwayError, target: ContentTarget, request: Request): Promise<void> {
    const isSilence = code === 'OFFLINE' || code === 'PEERS_UNREACHABLE';
    if (isSilence) details.stored = await this.#storedParts(target);
    const isUnfound = code === 'NOT_FOUND' || code === 'PEERS_UNREACHABLE';
    if (isUnfound && details.attempts && isNavigation(request)) {
      details.networks = await this.#options.peers.networks();
    }
  }

  async #answer(
    target: ContentTarget,
    request: Request,
    context: RequestContext,
    observed: Observed,
  ): Promise<Response> {
    const { signal, observer, trace } = observed;
    const { deployment, effective, peers, resolver, ownOrigins, appearance, tokens } = this.#options;
    if (request.method === 'OPTIONS') return done(observer, methodsOf());
    const isTopLevel = isTopLevelNavigation(request);
    // Open sessions that the rest of the page may need while the document comes from the store.
    if (isTopLevel) peers.warm();
    const decisionFor = await this.#decision(target);
    if (isTopLevel && awaitsUserSettings(deployment, effective) && context.sitePage) {
      return done(observer, await context.sitePage());
    }
    let content = target.address;
    let decision = decisionFor(content);
    const moved = isTopLevel && decision !== 'restricted' && (await this.#movedTo(target, request));
    if (moved) return done(observer, moved);
    const policy = await policyRequestOf(target, request, context, this.#options);
    const mayRunScripts = await this.#mayRunScripts(target);
    const answer = await answerContent(target, {
      resolver,
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
      reader: () => readerOf(request, appearance),
      reportUrl: () => this.#reportUrl(target),
    });
    if (answer.kind === 'redirect') {
      const headers = { ...answer.headers, ...redirectHeaders(deployment) };
      return done(observer, redirect(answer.location, 301, headers));
    }
    // The request of the progress page loads all that the navigation after it needs.
    const isDocument = isNavigation(request) || isOfProgressPage(request);
    const isOwnOriginDocument = deployment.site && isDocument && !request.headers.has('Range');
    const representation = isOwnOriginDocument
      ? await withWorkerShim(answer.representation, signal, trace)
      : answer.representation;
    // Only in embedded mode: elsewhere scripts run only in the shell, and in sites that the user trusts with the
    // origin.
    if (
      deployment.mode === 'embedded' &&
      decision !== 'trusted' &&
      isPageForScript(request, representation.headers['Content-Type'] ?? '')
    ) {
      throw new AntwayError(
        'REFUSED',
        `A script asks for a page from an address that may run none here. Navigate to it, or take it for data: by Antway.fetch, or with the header ${asDataHeader}.`,
      );
    }
    if (isTopLevel && decision !== 'restricted' && isScriptable(representation)) {
      const origin = await ownOrigins?.of(target.address);
      if (origin) {
        if (!observed.isLate) this.#noteVisit(target, request, representation, context);
        return done(observer, this.#redirectToSite(origin, target, request));
      }
    }
    const mayAsk = decision === undefined && !(await ownOrigins?.areAvailable());
    if (isTopLevel && mayAsk && isScriptable(representation)) {
      const { pathname, search } = new URL(request.url);
      const { address, name } = target;
      const grant: TrustGrant = { address, name, content, step: 'question' };
      const reader = await readerOf(request, appearance);
      const report = await this.#reportUrl(target);
      return done(observer, question(grant, pathname + search, reader, tokens, report));
    }
    const response = await respond(representation, request, signal, observer, trace);
    if (isTopLevel && response.ok && !observed.isLate)
      this.#noteVisit(target, request, representation, context);
    return response;
  }

  /** Works without a network: the path is not resolved here. Files that cannot run scripts are shown on this origin. */
  async #movedTo(target: ContentTarget, request: Request): Promise<Response | undefined> {
    const { ownOrigins, effective, library } = this.#options;
    const { address, path = '', query } = target;
    if (!ownOrigins || effective.config.denied.has(address.hex)) return undefined;
    const type = typeOfName(path);
    if (['format', 'download'].some((key) => query.has(key)) || (type && !canRunScripts(type)))
      return undefined;
    const origin = await ownOrigins.moved(address);
    if (!origin) return undefined;
    const visit = await library.visits.get(address).catch(() => undefined);
    if (visit) await library.visits.add({ ...visit, lastOpened: Date.now() }).catch(() => undefined);
    return this.#redirectToSite(origin, target, request);
  }

  /** The redirect is temporary, because the user may later choose to open the site without scripts. */
  #redirectToSite(origin: string, { root, search }: ContentTarget, request: Request): Response {
    const path = new URL(request.url).pathname.slice(root.length + 1);
    const headers = { ...redirectHeaders(this.#options.deployment), 'Cache-Control': 'no-store' };
    return redirect(`${origin}/${path}${search}`, 302, headers);
  }

  async #mayRunScripts({ address }: ContentTarget): Promise<boolean> {
    const { ownOrigins } = this.#options;
    return !(await ownOrigins?.areAvailable()) || ownOrigins!.isTrustedFromBefore(address);
  }

  /** If storage is blocked, no decision can be stored: the gateway does not ask, and the site runs no scripts. */
  async #decision({ address }: ContentTarget): Promise<DecisionFor> {
    const { deployment, effective, trust } = this.#options;
    switch (deployment.trust) {
      case 'site-settings': {
        const decision = effective.received?.runsScripts === false ? 'restricted' : 'trusted';
        return () => decision;
      }
      // Scripts act with the rights of the embedding site, so only the owner of that site can allow them.
      case 'server-config':
        return () => (effective.config.trusted.has(address.hex) ? 'trusted' : 'restricted');
      case 'user':
        return trust.decision(address).catch((error): DecisionFor => {
          console.warn('antway: decisions cannot be read', error);
          return () => 'restricted';
        });
    }
  }

  /** The host knows nothing of a manifest that only this device stores. */
  async #reportUrl({ address }: ContentTarget): Promise<string | undefined> {
    const { effective, manifests } = this.#options;
    const { reportUrl } = effective.config;
    if (reportUrl === null || (await manifests.has(address).catch(() => false))) return undefined;
    return reportUrlOf(reportUrl, address.hex);
  }

  async #storedParts(target: ContentTarget): Promise<StoredParts | undefined> {
    const { local: resolver, library, store } = this.#options;
    try {
      return await storedPartsOf(target, { resolver, library, store });
    } catch (error) {
      console.warn('antway: it cannot be told what is stored', error);
      return undefined;
    }
  }

  #noteVisit(
    target: ContentTarget,
    request: Request,
    representation: Representation,
    context: RequestContext,
  ): void {
    const { deployment, resolver, library } = this.#options;
    if (!deployment.recordsVisits) return;
    const { pathname } = new URL(request.url);
    const noted = noteVisit(target, pathname, representation, { resolver, library });
    context.waitUntil(noted.catch((error) => console.warn('antway: the visit was not noted', error)));
  }
}

/** @throws AntwayError `METHOD`, or `REFUSED` for a service worker's script. */
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

function redirect(location: string, status: 301 | 302, headers: Record<string, string>): Response {
  return new Response(null, { status, headers: { ...headers, Location: location } });
}

/** The response has no CORS headers, because requests of other origins never reach a service worker. */
function methodsOf(): Response {
  return new Response(null, { status: 204, headers: { Allow: methods.join(', ') } });
}

function isScriptable({ headers, isOwnPage }: Representation): boolean {
  const isDownload = headers['Content-Disposition']?.startsWith('attachment');
  return !isOwnPage && !isDownload && canRunScripts(headers['Content-Type'] ?? '');
}
