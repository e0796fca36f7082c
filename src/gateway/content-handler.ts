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
import { admit, allowedMethods } from './http/admit.ts';
import { answerContent } from './http/content-response.ts';
import { canRunScripts } from './http/content-type.ts';
import { isNavigation, isTopLevelNavigation } from './http/navigation.ts';
import { type Observation, observe } from './http/observe-request.ts';
import { letShellFrame, redirectHeaders } from './http/policy.ts';
import { redirect } from './http/redirect.ts';
import { type BodyObserver, type Representation, respond } from './http/representation.ts';
import { asDataHeader, isOfProgressPage, isPageForScript } from './http/script-request.ts';
import type { ContentTarget } from './http/target.ts';
import { sharedPlan, viewAnswer } from './http/view-answer.ts';
import { isForReader, isViewRequest } from './http/view-plan.ts';
import { linkTargetsOf } from './links/link-targets.ts';
import { withLinks } from './links/with-links.ts';
import { isInFrame, noteFrame, observeFrame } from './note-frame.ts';
import { movedTo, redirectToSite, temporaryRedirect } from './origins/own-origin-redirects.ts';
import type { OwnOrigins } from './origins/own-origins.ts';
import { withWorkerShim } from './origins/own-worker-shim.ts';
import type { ReadRecords } from './origins/read-records.ts';
import { errorResponse } from './pages/error-response.ts';
import { readerOf } from './pages/reader.ts';
import { question } from './pages/trust-question.ts';
import { policyRequestOf } from './policy-request.ts';
import type { RequestContext } from './request-context.ts';
import { decisionAbout, mayRunScripts } from './script-decision.ts';
import { SlowNavigations } from './slow-navigations.ts';
import type { ChosenAppearance } from './state/appearance.ts';
import { awaitsUserSettings, type EffectiveConfig } from './state/configuration.ts';
import type { FrameJournal } from './state/frame-journal.ts';
import type { ManifestStore } from './state/manifest-store.ts';
import { noteVisit } from './state/note-visit.ts';
import { type StoredParts, storedPartsOf } from './state/stored-share.ts';
import type { Trust } from './state/trust.ts';
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
  readRecords: ReadRecords;
  manifests: Pick<ManifestStore, 'has'>;
  frames: FrameJournal;
}

interface Observed extends Observation {
  trace: Trace;
  /** Whether another answer was sent in place of this one, because this one takes long. */
  isLate: boolean;
  /** For a page in a frame: as of `Stats.chunksByPeer` before this request. */
  chunksBefore: ReadonlyMap<string, number> | undefined;
}

/** The navigation to the same URL, of so many in a row, that gets the error page and not the viewer. */
const mostViews = 4;

export class ContentHandler {
  readonly #options: ContentHandlerOptions;
  readonly #slow: SlowNavigations;
  /** The URL that led to the viewer last, and how often it did in a row. */
  #viewed = '';
  #views = 0;

  constructor(options: ContentHandlerOptions) {
    this.#options = options;
    this.#slow = new SlowNavigations(options);
  }

  /** Never rejects: every error becomes a response. Keeps the worker alive until the fetched chunks are on disk. */
  async handle(target: ContentTarget, request: Request, context: RequestContext): Promise<Response> {
    const { stats, store, frames } = this.#options;
    let written = () => {};
    context.waitUntil(new Promise<void>((resolve) => (written = resolve)));
    const onEnd = () => store.drained().then(written, written);
    const trace = new Trace(new URL(request.url).pathname);
    const observation = observe(request, stats, trace, onEnd);
    const chunksBefore = isInFrame(request) ? stats.chunksByPeer() : undefined;
    const observed: Observed = {
      ...observeFrame(frames, request, context, trace, observation),
      trace,
      isLate: false,
      chunksBefore,
    };
    const answering = this.#answerOrError(target, request, context, observed);
    const placeholder = await this.#slow.placeholderFor(answering, request, target);
    if (placeholder) this.#goOn(answering, observed);
    const response = placeholder ?? (await answering);
    if (!placeholder) observed.transfer.size = Number(response.headers.get('Content-Length')) || null;
    // Set this header last, so that it includes all work before the first byte.
    response.headers.set('Server-Timing', trace.serverTiming());
    if (isInFrame(request)) letShellFrame(response.headers, this.#options.deployment);
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
    const { deployment } = this.#options;
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
      if (!isAborted)
        await noteFrame(this.#options.frames, target, request, context, observed.chunksBefore, failure);
      // A page of the shell can connect to nodes, and shows the content in its viewer.
      if (
        deployment.kind === 'app' &&
        failure.details.problem === 'no-page' &&
        isTopLevelNavigation(request) &&
        !this.#isLoop(request.url)
      ) {
        const { pathname, search } = new URL(request.url);
        return redirect(`/#view=${pathname.slice(1)}${search}`, 302, redirectHeaders(deployment));
      }
      failure.details.address ??= target.address.hex;
      await this.#addOptions(failure, target, request);
      return errorResponse(failure, request, this.#options);
    }
  }

  /**
   * Whether navigations lead to the viewer again and again. It opens some content in place of itself, and then no page is
   * there that could connect to nodes. Notes the navigation otherwise.
   */
  #isLoop(url: string): boolean {
    this.#views = url === this.#viewed ? this.#views + 1 : 1;
    this.#viewed = url;
    return this.#views % mostViews === 0;
  }

  /** Adds what the user's options depend on: how much of the content is missing, and where the peers looked for it. */
  async #addOptions({ code, details }: AntwayError, target: ContentTarget, request: Request): Promise<void> {
    const isSilence = code === 'OFFLINE' || code === 'PEERS_UNREACHABLE';
    if (isSilence) details.stored = await this.#storedParts(target);
    const isUnfound = ['NOT_FOUND', 'PEERS_UNREACHABLE', 'DENIED'].includes(code);
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
    const { deployment, effective, peers, resolver, ownOrigins, readRecords, appearance, tokens } =
      this.#options;
    if (request.method === 'OPTIONS') return done(observer, allowedMethods());
    const isTopLevel = isTopLevelNavigation(request);
    if (isTopLevel && target.gatewayUrl)
      return done(observer, temporaryRedirect(target.gatewayUrl, deployment));
    const isView = deployment.kind === 'app' && isViewRequest(request);
    /** Whether the user opens this URL, in a window or in the shell's viewer. The readers stay on this origin. */
    const isOpening = isTopLevel || (isView && !isForReader(request));
    // Open sessions that the rest of the page may need while the document comes from the store.
    if (isOpening) peers.warm();
    if (ownOrigins && (isOpening || isOfProgressPage(request))) readRecords.note(target.address, trace);
    const decisionFor = await decisionAbout(target, this.#options);
    if (isTopLevel && awaitsUserSettings(deployment, effective) && context.sitePage) {
      return done(observer, await context.sitePage());
    }
    let content = target.address;
    let decision = decisionFor(content);
    if (target.gatewayUrl && decision === 'restricted') {
      throw new AntwayError('REFUSED', 'A page without scripts loads nothing of another address.');
    }
    const moved = isOpening && decision !== 'restricted' && (await movedTo(target, request, this.#options));
    if (moved) return done(observer, moved);
    const policy = await policyRequestOf(target, request, context, this.#options);
    // A page may use the scripts of another address, but a frame with that address is not the site.
    const isFramed = target.gatewayUrl !== undefined && isNavigation(request);
    const areScriptsPossible = !isFramed && (await mayRunScripts(target, ownOrigins));
    const answer = await answerContent(target, {
      resolver,
      policyFor: (found) => {
        content = found;
        decision = decisionFor(found);
        return { ...policy, isTrusted: areScriptsPossible && decision === 'trusted' };
      },
      isNavigation: isView || isNavigation(request),
      accept: request.headers.get('Accept'),
      isHead: request.method === 'HEAD',
      range: request.headers.get('Range'),
      signal,
      trace,
      reader: () => readerOf(request, appearance),
      reportUrl: () => this.#reportUrl(target),
    });
    if (answer.kind === 'redirect') {
      if (isView) return done(observer, viewAnswer({ kind: 'moved', path: answer.location }));
      const headers = { ...answer.headers, ...redirectHeaders(deployment) };
      return done(observer, redirect(answer.location, answer.status ?? 301, headers));
    }
    // The request of the progress page loads all that the navigation after it needs.
    const isDocument = isNavigation(request) || isOfProgressPage(request);
    const isOwnOriginDocument =
      deployment.site && isDocument && !target.gatewayUrl && !request.headers.has('Range');
    const { representation } = answer;
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
    if (isOpening && decision !== 'restricted' && isScriptable(representation)) {
      const origin = await ownOrigins?.of(target.address);
      if (origin) {
        if (!observed.isLate) this.#noteVisit(target, request, representation, context);
        const left = new DOMException('The site opens on its own origin.', 'AbortError');
        // The owner of a pointer chooses its target. The records could tell the owner which targets are stored.
        if (content.equals(target.address)) readRecords.redirected(content, () => observer.left?.(left));
        return done(observer, redirectToSite(origin, target, request, deployment));
      }
    }
    if (isView) {
      this.#noteVisit(target, request, representation, context);
      return done(
        observer,
        viewAnswer(sharedPlan(target, representation, isScriptable(representation), decision)),
      );
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
    const { chunksBefore } = observed;
    await noteFrame(this.#options.frames, target, request, context, chunksBefore, { representation });
    const links = linkTargetsOf(request, target, deployment, effective.config);
    const linked = links ? await withLinks(representation, links, signal, trace) : representation;
    const shown = isOwnOriginDocument ? await withWorkerShim(linked, signal, trace) : linked;
    const response = await respond(shown, request, signal, observer, trace);
    if (isTopLevel && response.ok && !observed.isLate)
      this.#noteVisit(target, request, representation, context);
    return response;
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
    const noted = noteVisit(target, pathname, representation, { resolver, library }, isForReader(request));
    context.waitUntil(noted.catch((error) => console.warn('antway: the visit was not noted', error)));
  }
}

function done(observer: BodyObserver, response: Response): Response {
  observer.ended();
  return response;
}

function isScriptable({ headers, isOwnPage }: Representation): boolean {
  const isDownload = headers['Content-Disposition']?.startsWith('attachment');
  return !isOwnPage && !isDownload && canRunScripts(headers['Content-Type'] ?? '');
}
