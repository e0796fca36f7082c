/** Whether the browser loads a page, in a window or in a frame. */
export function isNavigation({ mode, destination }: Request): boolean {
  return mode === 'navigate' || ['document', 'iframe', 'frame'].includes(destination);
}

/**
 * Whether the page that navigates may be of another origin. A page can hide its URL, and the user can type one. No other page
 * can claim to be of this origin.
 */
export function isForeign({ referrer, url }: Request): boolean {
  return !URL.canParse(referrer) || new URL(referrer).origin !== new URL(url).origin;
}

/** Whether the browser loads a page in a window, not in a frame. */
export function isTopLevelNavigation({ mode, destination }: Request): boolean {
  return mode === 'navigate' && destination === 'document';
}

/** Whether the browser only expects that the user will open the page. */
export function isInAdvance({ headers }: Request): boolean {
  return headers.has('Sec-Purpose');
}
