import type { ContentHandlerOptions } from '../content-handler.ts';
import type { Deployment } from '../deployment.ts';
import { canRunScripts, typeOfName } from '../http/content-type.ts';
import { redirectHeaders } from '../http/policy.ts';
import { redirect } from '../http/redirect.ts';
import type { ContentTarget } from '../http/target.ts';
import { viewAnswer } from '../http/view-answer.ts';
import { isViewRequest } from '../http/view-plan.ts';

type Options = Pick<ContentHandlerOptions, 'deployment' | 'effective' | 'ownOrigins'>;

/**
 * Redirects to the own origin of a site that was moved there. Works without a network: the path is not resolved here.
 * Files that cannot run scripts are shown on this origin. The wildcard hosts are probed for other content, which may
 * have to be redirected once it is known.
 */
export async function movedTo(
  target: ContentTarget,
  request: Request,
  { ownOrigins, effective, deployment }: Options,
): Promise<Response | undefined> {
  const { address, path = '', query } = target;
  if (!ownOrigins || effective.config.denied.has(address.hex)) return undefined;
  const type = typeOfName(path);
  if (
    ['format', 'download'].some((key) => query.has(key)) ||
    (type && !canRunScripts(type) && !type.startsWith('application/pdf'))
  )
    return undefined;
  const origin = await ownOrigins.moved(address);
  if (!origin) {
    ownOrigins.warm();
    return undefined;
  }
  return redirectToSite(origin, target, request, deployment);
}

/** A navigation to another address shows it at its own origin, which only the gateway knows. */
export function temporaryRedirect(location: string, deployment: Deployment): Response {
  return redirect(location, 302, { ...redirectHeaders(deployment), 'Cache-Control': 'no-store' });
}

/**
 * For a navigation that another website may have started. `RequestHandler` puts a page in the place of the redirect, and that
 * page navigates again, so that the content gets a request of this origin.
 */
export function redirectToItself({ url }: Request, deployment: Deployment): Response {
  return temporaryRedirect(url, deployment);
}

/** The redirect is temporary, because the user may later choose to open the site without scripts. */
export function redirectToSite(
  origin: string,
  { root, search, address }: ContentTarget,
  request: Request,
  deployment: Deployment,
): Response {
  const path = new URL(request.url).pathname.slice(root.length + 1);
  const url = `${origin}/${path}${search}`;
  if (isViewRequest(request)) return viewAnswer({ kind: 'own-origin', url, address: address.hex });
  return temporaryRedirect(url, deployment);
}
