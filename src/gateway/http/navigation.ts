/** Whether the browser loads a page, in a window or in a frame. */
export function isNavigation({ mode, destination }: Request): boolean {
  return mode === 'navigate' || ['document', 'iframe', 'frame'].includes(destination);
}

/** Whether the browser loads a page in a window, not in a frame. */
export function isTopLevelNavigation({ mode, destination }: Request): boolean {
  return mode === 'navigate' && destination === 'document';
}

/**
 * Whether a window navigates, and the page that leads it may be of another origin. A page can hide its URL, and the user can
 * type one. No other page can claim to be of this origin.
 */
export function isForeignNavigation(request: Request): boolean {
  const { referrer, url } = request;
  const isOwn = URL.canParse(referrer) && new URL(referrer).origin === new URL(url).origin;
  return isTopLevelNavigation(request) && !isOwn;
}

/** Whether the browser asks before the user opens the page: it prefetches or prerenders it. */
export function isInAdvance({ headers }: Request): boolean {
  return headers.has('Sec-Purpose');
}
