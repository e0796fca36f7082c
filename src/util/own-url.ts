const placeholder = '/-/';

/**
 * Loads this page's URL in place of this page, as a navigation and not as a reload. Another fragment that the user enters
 * meanwhile makes the browser drop the navigation and scroll this page. The navigation then starts again.
 */
export function loadOwnUrl(): void {
  const url = location.href;
  // This function has put this URL here, and the answer was a download. There is nothing to load.
  if (location.pathname === placeholder) return;
  addEventListener('hashchange', loadOwnUrl, { once: true });
  // A navigation to the same URL with a fragment would only scroll. Therefore the page first changes its own URL.
  if (url.includes('#')) history.replaceState(null, '', placeholder);
  location.replace(url);
}
