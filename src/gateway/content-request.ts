import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { Visit } from '../library/visits.ts';
import { reportUrlOf } from '../server-config.ts';
import type { Trace } from '../stats/trace.ts';
import type { ContentHandlerOptions } from './content-handler.ts';
import { allowedMethods } from './http/admit.ts';
import { answerContent, type ContentAnswer, refuseUnknownFormat } from './http/content-response.ts';
import { canRunScripts } from './http/content-type.ts';
import { isForeignNavigation, isInAdvance, isNavigation, isTopLevelNavigation } from './http/navigation.ts';
import type { Observation } from './http/observe-request.ts';
import { redirectHeaders } from './http/policy.ts';
import { redirect } from './http/redirect.ts';
import { isAttachment, isDownload, mayBeSaved, type Representation, respond } from './http/representation.ts';
import { asDataHeader, isOfProgressPage, isPageForScript } from './http/script-request.ts';
import type { ContentTarget } from './http/target.ts';
import { sharedPlan, viewAnswer } from './http/view-answer.ts';
import { isForReader, isViewRequest } from './http/view-plan.ts';
import { linkTargetsOf } from './links/link-targets.ts';
import { withLinks } from './links/with-links.ts';
import { noteFrame } from './note-frame.ts';
import {
  movedTo,
  redirectToItself,
  redirectToSite,
  temporaryRedirect,
} from './origins/own-origin-redirects.ts';
import { withWorkerShim } from './origins/own-worker-shim.ts';
import { readerOf } from './pages/reader.ts';
import { savingPage } from './pages/saving-page.ts';
import { question } from './pages/trust-question.ts';
import { policyRequestOf } from './policy-request.ts';
import type { RequestContext } from './request-context.ts';
import { decisionAbout, mayRunScripts } from './script-decision.ts';
import { mayBeSavedByUrl } from './slow-navigations.ts';
import { awaitsUserSettings } from './state/configuration.ts';
import { visitOf, wasSeen } from './state/note-visit.ts';
import type { Decision, DecisionFor } from './state/trust.ts';
import type { TrustGrant } from './state/trust-tokens.ts';

/** The trace, counters and signal of a request in progress. */
export interface RequestObservation extends Observation {
  trace: Trace;
  /** Whether another answer was sent in place of this one, because this one takes long. */
  isLate: boolean;
  /** For a page in a frame: as of `Stats.chunksByPeer` before this request. */
  chunksBefore: ReadonlyMap<string, number> | undefined;
}

/** Finds the answer to one request for content. */
export class ContentRequest {
  readonly #target: ContentTarget;
  readonly #request: Request;
  readonly #context: RequestContext;
  readonly #observed: RequestObservation;
  readonly #options: ContentHandlerOptions;
  readonly #isTopLevel: boolean;
  /** Whether a page of another origin may have led a window here. */
  readonly #isForeign: boolean;
  /** Whether the shell asks how its viewer shows the content. */
  readonly #isView: boolean;
  /** Whether the user opens this URL, in a window or in the shell's viewer. The readers stay on this origin. */
  readonly #isOpening: boolean;
  /** The address of the bytes. It differs from that of the target if that is a pointer. */
  #content: Address;
  /** The decision about scripts of `#content`. */
  #decision: Decision | undefined;

  constructor(
    target: ContentTarget,
    request: Request,
    context: RequestContext,
    observed: RequestObservation,
    options: ContentHandlerOptions,
  ) {
    this.#target = target;
    this.#request = request;
    this.#context = context;
    this.#observed = observed;
    this.#options = options;
    this.#isTopLevel = isTopLevelNavigation(request);
    this.#isForeign = isForeignNavigation(request);
    this.#isView = options.deployment.hasShell && isViewRequest(request);
    this.#isOpening = this.#isTopLevel || (this.#isView && !isForReader(request));
    this.#content = target.address;
  }

  /** @throws AntwayError for content that cannot be had, and for a request that is refused. */
  async answer(): Promise<Response> {
    const early = await this.#withoutContent();
    if (early) return this.#done(early);
    const decisionFor = await decisionAbout(this.#target, this.#options);
    this.#decision = decisionFor(this.#content);
    const instead = await this.#beforeContent();
    if (instead) return this.#done(instead);
    const answer = await this.#find(decisionFor);
    if (answer.kind === 'redirect') return this.#done(this.#redirected(answer));
    const { representation } = answer;
    this.#refusePageForScript(representation);
    const moved = await this.#onOwnOrigin(representation);
    if (moved) return this.#done(moved);
    const shown = this.#withoutPdf(representation);
    if (mayBeSaved(shown)) {
      this.#refuseHiddenFrame();
      if (this.#isForeign) return this.#done(await this.#savingPage());
    }
    const { deployment, foreignNavigations } = this.#options;
    if (
      deployment.site &&
      isScriptableData(shown) &&
      (await foreignNavigations.needsPage(this.#request, this.#context))
    )
      return this.#done(redirectToItself(this.#request, deployment));
    const other = this.#forViewer(shown) ?? (await this.#trustQuestion(shown));
    return other ? this.#done(other) : this.#send(shown);
  }

  async #savingPage(): Promise<Response> {
    const { appearance, deployment } = this.#options;
    return savingPage(await readerOf(this.#request, appearance), deployment);
  }

  #done(response: Response): Response {
    this.#observed.observer.ended();
    return response;
  }

  /** Answers a request whose URL says enough. Prepares the peers for all others. */
  async #withoutContent(): Promise<Response | undefined> {
    const { deployment, peers, ownOrigins, recordHandover } = this.#options;
    const { address, gatewayUrl } = this.#target;
    if (this.#request.method === 'OPTIONS') return allowedMethods();
    if (this.#isTopLevel && gatewayUrl) return temporaryRedirect(gatewayUrl, deployment);
    if (mayBeSavedByUrl(this.#target)) {
      this.#refuseHiddenFrame();
      if (this.#isForeign) {
        refuseUnknownFormat(this.#target);
        return this.#savingPage();
      }
    }
    // Open sessions that the rest of the page may need while the document comes from the store.
    if (this.#isOpening) peers.warm();
    if (ownOrigins && (this.#isOpening || isOfProgressPage(this.#request)))
      recordHandover.note(address, this.#observed.trace);
    return undefined;
  }

  /** Answers where the settings or the decision already say that this origin does not show the content. */
  async #beforeContent(): Promise<Response | undefined> {
    const { deployment, effective } = this.#options;
    const { sitePage } = this.#context;
    if (this.#isTopLevel && sitePage && awaitsUserSettings(deployment, effective)) return sitePage();
    const isRestricted = this.#decision === 'restricted';
    if (this.#target.gatewayUrl && isRestricted) {
      throw new AntwayError('REFUSED', 'A page without scripts loads nothing of another address.');
    }
    if (!this.#isOpening || isRestricted) return undefined;
    const moved = await movedTo(this.#target, this.#request, this.#options);
    if (!moved) return undefined;
    this.#keep(this.#options.library.visits.get(this.#target.address), true);
    return moved;
  }

  async #find(decisionFor: DecisionFor): Promise<ContentAnswer> {
    const request = this.#request;
    const target = this.#target;
    const { resolver, ownOrigins, appearance } = this.#options;
    const { signal, trace } = this.#observed;
    const policy = await policyRequestOf(target, request, this.#context, this.#options);
    // A page may use the scripts of another address, but a frame with that address is not the site.
    const isFramed = target.gatewayUrl !== undefined && isNavigation(request);
    const areScriptsPossible = !isFramed && (await mayRunScripts(target, ownOrigins));
    return answerContent(target, {
      resolver,
      policyFor: (found) => {
        this.#content = found;
        this.#decision = decisionFor(found);
        return { ...policy, isTrusted: areScriptsPossible && this.#decision === 'trusted' };
      },
      isNavigation: this.#isView || isNavigation(request),
      accept: request.headers.get('Accept'),
      isHead: request.method === 'HEAD',
      range: request.headers.get('Range'),
      signal,
      trace,
      reader: () => readerOf(request, appearance),
      reportUrl: () => this.#reportUrl(),
    });
  }

  #redirected({ location, status, headers }: Extract<ContentAnswer, { kind: 'redirect' }>): Response {
    if (this.#isView) return viewAnswer({ kind: 'moved', path: location });
    return redirect(location, status ?? 301, { ...headers, ...redirectHeaders(this.#options.deployment) });
  }

  /**
   * Only on a site that embeds the gateway: elsewhere scripts run only in the shell, and in sites that the user trusts
   * with the origin.
   * @throws AntwayError `REFUSED`.
   */
  #refusePageForScript({ headers }: Representation): void {
    const { ownsOrigin } = this.#options.deployment;
    if (ownsOrigin || this.#decision === 'trusted') return;
    if (!isPageForScript(this.#request, headers['Content-Type'] ?? '')) return;
    throw new AntwayError(
      'REFUSED',
      `A script asks for a page from an address that may run none here. Navigate to it, or take it for data: by Antway.fetch, or with the header ${asDataHeader}.`,
    );
  }

  /**
   * Security: a page that hides its URL may be of another origin. A download leaves the frame as it is, and browsers apply no
   * policy of framing to it, so the page would learn that the site is open.
   * @throws AntwayError `REFUSED`.
   */
  #refuseHiddenFrame(): void {
    const { mode, referrer } = this.#request;
    if (mode !== 'navigate' || this.#isTopLevel || referrer !== '') return;
    throw new AntwayError('REFUSED', 'A page that hides its URL saves no file in a frame.');
  }

  /** Redirects to the origin of a site that may run scripts. */
  async #onOwnOrigin(representation: Representation): Promise<Response | undefined> {
    if (!this.#isOpening || this.#decision === 'restricted') return undefined;
    if (!isScriptable(representation) && !isPdf(representation)) return undefined;
    const { ownOrigins, recordHandover, deployment } = this.#options;
    const { address } = this.#target;
    const origin = await ownOrigins?.of(address);
    if (!origin) return undefined;
    // Chromium shows no PDF in the viewer's frame. The shell opens it in a window.
    if (this.#isView && isPdf(representation)) return this.#forViewer(representation);
    if (!this.#observed.isLate) this.#noteVisit(representation, true);
    const left = new DOMException('The site opens on its own origin.', 'AbortError');
    // The owner of a pointer chooses its target. The records could tell the owner which targets are stored.
    if (this.#content.equals(address))
      recordHandover.redirected(address, () => this.#observed.observer.left?.(left));
    return redirectToSite(origin, this.#target, this.#request, deployment);
  }

  /**
   * A PDF has scripts, which no policy and no sandbox of Chromium stops: they can ask the user for anything under the URL of
   * this origin. So the browser saves the PDF, except on the origin of a site that may run scripts.
   */
  #withoutPdf(representation: Representation): Representation {
    const isShown = this.#isView || isNavigation(this.#request);
    const isOfSite = this.#options.deployment.site !== undefined;
    const mayRun = isOfSite
      ? !this.#target.gatewayUrl && this.#decision !== 'restricted'
      : this.#decision === 'trusted';
    if (!isShown || mayRun || !isPdf(representation)) return representation;
    const headers = { ...representation.headers };
    const name = headers['Content-Disposition']?.replace(/^\w+/, '') ?? '';
    return { ...representation, headers: { ...headers, 'Content-Disposition': `attachment${name}` } };
  }

  /** Tells the shell's viewer how to show the content. */
  #forViewer(representation: Representation): Response | undefined {
    if (!this.#isView) return undefined;
    this.#noteVisit(representation);
    return viewAnswer(sharedPlan(this.#target, representation, isScriptable(representation), this.#decision));
  }

  /** Asks the user whether the site may run its scripts, if no decision exists. */
  async #trustQuestion(representation: Representation): Promise<Response | undefined> {
    const { ownOrigins, appearance, tokens } = this.#options;
    const mayAsk = this.#decision === undefined && !(await ownOrigins?.areAvailable());
    if (!this.#isTopLevel || !mayAsk || !isScriptable(representation)) return undefined;
    const { pathname, search } = new URL(this.#request.url);
    const { address, name } = this.#target;
    const grant: TrustGrant = { address, name, content: this.#content, step: 'question' };
    const reader = await readerOf(this.#request, appearance);
    return question(grant, pathname + search, reader, tokens, await this.#reportUrl());
  }

  async #send(representation: Representation): Promise<Response> {
    const request = this.#request;
    const target = this.#target;
    const { deployment, effective, frames } = this.#options;
    const { signal, observer, trace, chunksBefore } = this.#observed;
    await noteFrame(frames, target, request, this.#context, chunksBefore, { representation });
    const links = linkTargetsOf(request, target, deployment, effective.config);
    const linked = links ? await withLinks(representation, links, signal, trace) : representation;
    // The request of the progress page loads all that the navigation after it needs.
    const isDocument = isNavigation(request) || isOfProgressPage(request);
    const needsShim = deployment.site && isDocument && !target.gatewayUrl && !request.headers.has('Range');
    const shown = needsShim ? await withWorkerShim(linked, signal, trace) : linked;
    const response = await respond(shown, request, signal, observer, trace);
    if (this.#isTopLevel && response.ok && !this.#observed.isLate) this.#noteVisit(representation);
    return response;
  }

  /** The host knows nothing of a manifest that only this device stores. */
  async #reportUrl(): Promise<string | undefined> {
    const { address } = this.#target;
    const { effective, manifests } = this.#options;
    const { reportUrl } = effective.config;
    if (reportUrl === null || (await manifests.has(address).catch(() => false))) return undefined;
    return reportUrlOf(reportUrl, address.hex);
  }

  /** @param isElsewhere whether the window goes on to the site's own origin. */
  #noteVisit(representation: Representation, isElsewhere = false): void {
    const { deployment, resolver, library, recentFiles } = this.#options;
    // The viewer has a page for a file that the browser saves.
    if (isDownload(representation) && !this.#isView) return;
    if (deployment.site) this.#whenSeen(() => library.visits.noteSeen());
    if (!deployment.recordsVisits) return;
    const { pathname } = new URL(this.#request.url);
    const isReader = isForReader(this.#request);
    const visit = visitOf(this.#target, pathname, representation, { resolver, library }, isReader);
    this.#keep(visit, isElsewhere, async ({ address }) => {
      const { content } = await resolver.locate(this.#target.address);
      await recentFiles.note(address, content);
    });
  }

  /** @param isElsewhere as of `#noteVisit`. @param then called once the visit counts. */
  #keep(
    visit: Promise<Visit | undefined>,
    isElsewhere: boolean,
    then: (visit: Visit) => Promise<void> = async () => {},
  ): void {
    const { library } = this.#options;
    visit.catch(() => undefined);
    const isDirect = isElsewhere && !this.#isView && !isInAdvance(this.#request) && this.#context.isVisible;
    const keep = async () => {
      const before = await visit;
      if (!before) return;
      const found = { ...before, lastOpened: Date.now() };
      if (isDirect) return library.openedElsewhere(this.#target.address, found);
      await library.visited(found);
      await then(found);
    };
    if (isDirect) this.#work(keep());
    else this.#whenSeen(keep);
  }

  /** Does this once the user has seen the page that shows the content. */
  #whenSeen(work: () => Promise<void>): void {
    const { clientIds, isVisible } = this.#context;
    if (isInAdvance(this.#request)) return;
    const page = this.#isView ? clientIds?.asking : clientIds?.created;
    this.#work(wasSeen(page, isVisible).then((isSeen) => (isSeen ? work() : undefined)));
  }

  #work(work: Promise<void>): void {
    this.#context.waitUntil(work.catch((error) => console.warn('antway: the visit was not noted', error)));
  }
}

function isScriptable({ headers, isOwnPage }: Representation): boolean {
  return !isOwnPage && !isAttachment({ headers }) && canRunScripts(headers['Content-Type'] ?? '');
}

/** Documents other than HTML, such as SVG: no script of the gateway runs before those of the site. */
function isScriptableData(representation: Representation): boolean {
  return isScriptable(representation) && !representation.headers['Content-Type']?.startsWith('text/html');
}

function isPdf({ headers }: Representation): boolean {
  return headers['Content-Type']?.startsWith('application/pdf') === true;
}
