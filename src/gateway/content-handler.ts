import type { PinningStore } from '../chunks/store.ts';
import type { Resolver } from '../content/resolver.ts';
import { AntwayError, asAntwayError, isAbort } from '../errors.ts';
import type { Library } from '../library/library.ts';
import { limits } from '../limits.ts';
import type { Stats } from '../stats/stats.ts';
import { Trace } from '../stats/trace.ts';
import { ContentRequest, type RequestObservation } from './content-request.ts';
import type { GatewayPeers } from './create-gateway.ts';
import type { Deployment } from './deployment.ts';
import type { ForeignNavigations } from './foreign-navigations.ts';
import { admit } from './http/admit.ts';
import { isForeignNavigation, isInAdvance, isNavigation, isTopLevelNavigation } from './http/navigation.ts';
import { observe } from './http/observe-request.ts';
import { letShellFrame, redirectHeaders } from './http/policy.ts';
import { redirect } from './http/redirect.ts';
import { isOfProgressPage } from './http/script-request.ts';
import type { ContentTarget } from './http/target.ts';
import { isInFrame, noteFrame, observeFrame } from './note-frame.ts';
import { redirectToItself } from './origins/own-origin-redirects.ts';
import type { OwnOrigins } from './origins/own-origins.ts';
import type { RecordHandover } from './origins/record-handover.ts';
import { errorResponse } from './pages/error-response.ts';
import { isForeignFrame, type RequestContext } from './request-context.ts';
import { SlowNavigations } from './slow-navigations.ts';
import type { ChosenAppearance } from './state/appearance.ts';
import type { EffectiveConfig } from './state/configuration.ts';
import type { FrameJournal } from './state/frame-journal.ts';
import type { ManifestStore } from './state/manifest-store.ts';
import type { RecentFiles } from './state/recent-files.ts';
import { type StoredParts, storedPartsOf } from './state/stored-parts.ts';
import type { Trust } from './state/trust.ts';
import type { TrustTokens } from './state/trust-tokens.ts';

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
  recordHandover: RecordHandover;
  manifests: Pick<ManifestStore, 'has'>;
  frames: FrameJournal;
  recentFiles: RecentFiles;
  foreignNavigations: ForeignNavigations;
}

/** Of this many navigations in a row to the same URL, the last one gets the error page instead of the viewer. */
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
    const observed: RequestObservation = {
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
  #goOn(answering: Promise<Response>, observed: RequestObservation): void {
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
    observed: RequestObservation,
  ): Promise<Response> {
    const { signal, observer } = observed;
    const { deployment } = this.#options;
    try {
      admit(request);
      // Before the first read, so that the answer is the same for stored and for absent content.
      if (await isForeignFrame(request, context, deployment, target.root))
        throw new AntwayError('REFUSED', 'A page of another origin shows this address in a frame.');
      if (isForeignNavigation(request) && isInAdvance(request))
        throw new AntwayError('REFUSED', 'A page of another origin asks for this address in advance.');
      if (await this.#options.foreignNavigations.isTooMany(request, context)) {
        observer.ended();
        return redirectToItself(request, deployment);
      }
      const known = isTopLevelNavigation(request) ? this.#slow.takeFailure(request) : undefined;
      if (known) throw known;
      return await new ContentRequest(target, request, context, observed, this.#options).answer();
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
        deployment.hasShell &&
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
   * Counts a navigation to the viewer. Returns true if such navigations form a loop: the viewer opens some content in place
   * of itself, and then no page is left that could connect to nodes.
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

  async #storedParts(target: ContentTarget): Promise<StoredParts | undefined> {
    const { local: resolver, library, store } = this.#options;
    try {
      return await storedPartsOf(target, { resolver, library, store });
    } catch (error) {
      console.warn('antway: could not count the stored chunks', error);
      return undefined;
    }
  }
}
