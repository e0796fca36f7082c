import type { ErrorCode } from '../errors.ts';
import type { Trace } from '../stats/trace.ts';
import { isNavigation } from './http/navigation.ts';
import type { Observation } from './http/observe-request.ts';
import type { Representation } from './http/representation.ts';
import type { ContentTarget } from './http/target.ts';
import type { RequestContext } from './request-context.ts';
import type { FrameJournal } from './state/frame-journal.ts';
import { headOf } from './state/note-visit.ts';

/** Whether a frame loads a page. */
export function isInFrame({ mode, destination }: Request): boolean {
  return mode === 'navigate' && destination === 'iframe';
}

/** Counts a request for the page that it belongs to, in addition to the given observation. */
export function observeFrame(
  frames: FrameJournal,
  request: Request,
  { clientIds }: RequestContext,
  trace: Trace,
  observation: Observation,
): Observation {
  const id = (isNavigation(request) && clientIds?.created) || clientIds?.asking;
  if (!id) return observation;
  const ended = (failure?: ErrorCode) => {
    frames.ended(id, trace, failure);
    observation.observer.ended(failure);
  };
  return { ...observation, observer: { ...observation.observer, ended } };
}

/**
 * Notes the page that a frame loads, for the bar above the shell's viewer.
 * @param chunksBefore as of `FrameJournal.opened`. Undefined if no frame loads a page.
 */
export async function noteFrame(
  frames: FrameJournal,
  { address, root, gatewayUrl }: ContentTarget,
  request: Request,
  { clientIds }: RequestContext,
  chunksBefore: ReadonlyMap<string, number> | undefined,
  outcome: { representation: Representation } | { code: ErrorCode },
): Promise<void> {
  if (!chunksBefore || !clientIds?.created) return;
  // On a site's own origin, a page of another address is not a page of the site, whose name the bar shows.
  if (gatewayUrl) return;
  const { pathname, search } = new URL(request.url);
  const path = `/${pathname.slice(root.length + 1)}${search}`;
  const isAnswered = 'representation' in outcome;
  const title = isAnswered ? (await headOf(outcome.representation)).title : null;
  const code = isAnswered ? null : outcome.code;
  frames.opened(clientIds.created, { address: address.hex, path, title, code }, chunksBefore);
}
