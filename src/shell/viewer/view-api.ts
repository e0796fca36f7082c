import { type ViewPlan, viewHeader } from '../../gateway/http/view-plan.ts';
import type { FramedPage, FrameReport } from '../../gateway/state/frame-journal.ts';
import { ask, decodeTitle, GatewayApiError } from '../gateway-api.ts';
import { askSite } from '../origins/site-bridge.ts';

/** A moved URL leads to its final path. More steps are a loop. */
const mostSteps = 5;

type FinalPlan = Exclude<ViewPlan, { kind: 'moved' }>;

/**
 * Asks the worker how to show a path. Counts as a visit of the user.
 * @param path of content, with a leading slash; may have a query and a fragment.
 * @throws GatewayApiError with the gateway's error for the content.
 */
export async function planView(
  path: string,
  signal: AbortSignal,
): Promise<{ plan: FinalPlan; path: string }> {
  const [, fragment = ''] = /(#.*)$/s.exec(path) ?? [];
  let at = path.slice(0, path.length - fragment.length);
  for (let step = 0; step < mostSteps; step++) {
    const plan = (await ask(at, { signal, headers: { [viewHeader]: '1' } })) as ViewPlan;
    if (plan.kind === 'own-origin')
      return { plan: { ...plan, url: plan.url + fragment }, path: at + fragment };
    if (plan.kind === 'shared-origin') return { plan, path: at + fragment };
    if (plan.kind !== 'moved') break;
    at = plan.path;
  }
  throw new GatewayApiError('NOT_FOUND', `There is no content at ${path}.`);
}

/** A page of the frame, as the worker of its origin has recorded it. The title is text of a stranger. */
export interface ShownPage extends Omit<FramedPage, 'title'> {
  /** Decoded, with at most 200 characters and without control and bidi characters. Null if the page has no title. */
  title: string | null;
}

export interface ViewReport {
  last: number;
  next: ShownPage | null;
  known: ShownPage | null;
  isOpen: boolean;
}

/**
 * Asks the worker of the frame's origin for its newest pages.
 * @param site address of a site on its own origin. Null if the frame is on the gateway's origin.
 * @param after and `client` as of `FrameJournal.report`.
 * @param isAny whether pages count that the browser refused to show, or shows no more.
 */
export async function framedPages(
  site: string | null,
  after: number,
  client = '',
  isAny = false,
): Promise<ViewReport> {
  const endpoint = `view?after=${after}&client=${encodeURIComponent(client)}${isAny ? '&any' : ''}`;
  const report = (
    site === null ? await ask(`/-/${endpoint}`, {}) : JSON.parse(await (await askSite(site, endpoint)).text())
  ) as FrameReport;
  return {
    last: report.last,
    next: report.next && shownPage(report.next, site),
    known: report.known && shownPage(report.known, site),
    isOpen: report.isOpen === true,
  };
}

/** A site can disturb the worker of its origin, so its origin decides the address, and not the report. */
function shownPage(page: FramedPage, site: string | null): ShownPage {
  const title = page.title ? decodeTitle(String(page.title).slice(0, 4_000)) : null;
  const path = String(page.path).slice(0, 8_000);
  return { ...page, address: site ?? page.address, path: path.startsWith('/') ? path : '/', title };
}
