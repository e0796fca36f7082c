import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { answerApi } from './api/answer-api.ts';
import type { ApiContext } from './api/endpoint.ts';
import type { ContentHandler } from './content-handler.ts';
import type { Deployment } from './deployment.ts';
import { isForeignNavigation } from './http/navigation.ts';
import { redirectHeaders } from './http/policy.ts';
import { parseTarget, type Target } from './http/target.ts';
import { viewAnswer } from './http/view-answer.ts';
import { isViewRequest } from './http/view-plan.ts';
import { openingPage } from './pages/opening-page.ts';
import { readerOf } from './pages/reader.ts';
import { isForeignFrame, mayUseApi, type RequestContext } from './request-context.ts';
import type { ChosenAppearance } from './state/appearance.ts';
import { awaitsUserSettings, type EffectiveConfig } from './state/configuration.ts';
import type { ManifestStore } from './state/manifest-store.ts';

export interface RequestHandlerOptions {
  deployment: Deployment;
  effective: EffectiveConfig;
  api: Omit<ApiContext, 'endTrust' | 'isOpen' | 'requestSync' | 'waitUntil'>;
  content: ContentHandler;
  manifests: ManifestStore;
  appearance: ChosenAppearance;
}

export class RequestHandler {
  readonly #options: RequestHandlerOptions;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
  }

  /**
   * @returns undefined if the URL does not belong to the gateway: the shell and its assets.
   * @throws AntwayError for an invalid address, and the errors of endpoints. Errors of content become responses.
   */
  async handle(request: Request, context: RequestContext): Promise<Response | undefined> {
    const { content } = this.#options;
    const target = this.#targetOf(new URL(request.url));
    switch (target.kind) {
      case 'other':
        return undefined;
      case 'api':
        this.#workOnPins(context);
        return this.#api(target.name, request, context);
      case 'redirect':
        return this.#withoutRedirect(await this.#redirect(target, request, context), request);
      case 'content':
        this.#workOnPins(context);
        return this.#withoutRedirect(await content.handle(target.content, request, context), request);
    }
  }

  /**
   * Security: other websites must not see what this device stores, and what the user decided about it. They can forbid a form
   * to follow redirects, or lead here by so many redirects that the browser follows no further one. The failure shows that
   * there was one.
   */
  async #withoutRedirect(response: Response, request: Request): Promise<Response> {
    const { appearance, deployment } = this.#options;
    const location = response.headers.get('Location');
    if (!location || !isForeignNavigation(request)) return response;
    return openingPage(location, await readerOf(request, appearance), deployment);
  }

  #targetOf(url: URL): Target {
    const { effective, deployment } = this.#options;
    return parseTarget(url, effective.config, deployment);
  }

  /** The browser keeps the worker alive while requests arrive. The worker uses that time for the pins. */
  #workOnPins(context: RequestContext): void {
    context.waitUntil(this.#options.api.library.pins.work());
  }

  async #api(name: string, request: Request, context: RequestContext): Promise<Response> {
    const { deployment, effective, api } = this.#options;
    // Security: any website can navigate. An answer in its place, or a download that leaves it there, would tell it something.
    if (request.mode === 'navigate' && !(name === 'trust' && request.method === 'POST')) {
      throw new AntwayError('REFUSED', 'The gateway’s endpoints answer no navigation.');
    }
    // Before the site shows its first content, every open page on this origin is the gateway's.
    const isFirst =
      name === 'origin' && request.method === 'PUT' && awaitsUserSettings(deployment, effective);
    if (!isFirst && !(await mayUseApi(request, context, deployment))) {
      throw new AntwayError('REFUSED', 'These endpoints are for the gateway’s own pages only.');
    }
    if (name === 'trust' && deployment.trust === 'server-config') {
      throw new AntwayError(
        'REFUSED',
        'The configuration of this site decides which addresses may run scripts here.',
      );
    }
    return answerApi(name, request, {
      ...api,
      requestSync: () => context.requestSync(),
      isOpen: async (id) => (await context.isOpen?.(id)) ?? false,
      waitUntil: (work) => context.waitUntil(work),
      endTrust: (address) => this.#endTrust(address, context),
    });
  }

  /**
   * Revokes the rights of open pages of one address, or of all addresses. The response does not wait for this, because
   * the shell that waits for the response may be one of the reloaded pages.
   */
  #endTrust(address: Address | undefined, context: RequestContext): void {
    const isOf = (url: URL): boolean => {
      try {
        const target = this.#targetOf(url);
        if (target.kind !== 'content' && target.kind !== 'redirect') return false;
        return !address || target.content.address.hex === address.hex;
      } catch {
        return false; // not the URL of any address
      }
    };
    // After a reset, the reload of a page would count as a visit.
    const path = address ? undefined : '/';
    const ending = Promise.all([context.reloadPages?.(isOf, path), context.recheckFiles?.()]);
    context.waitUntil(
      ending.catch((error) => console.warn('antway: pages of the former trust are still open', error)),
    );
  }

  /** A manifest that is stored here is served here in every isolation mode, because no other origin has it. */
  async #redirect(
    { location, isPermanent, content }: Extract<Target, { kind: 'redirect' }>,
    request: Request,
    context: RequestContext,
  ): Promise<Response> {
    const { deployment, manifests } = this.#options;
    // Security: another website must not see that this device has the manifest.
    if (await isForeignFrame(request, context, deployment, content.root))
      throw new AntwayError('REFUSED', 'A page of another origin shows this address in a frame.');
    if (!deployment.site && (await manifests.get(content.address))) {
      return this.#options.content.handle(content, request, context);
    }
    if (isViewRequest(request)) {
      return viewAnswer({ kind: 'own-origin', url: location, address: content.address.hex });
    }
    const headers = { ...redirectHeaders(deployment), Location: location };
    return new Response(null, { status: isPermanent ? 301 : 302, headers });
  }
}
