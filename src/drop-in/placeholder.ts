import { page } from './dom.ts';
import type { ResolvedOptions } from './options.ts';

/**
 * Shows an even area in place of pictures that cannot load before the worker is ready. Browsers would draw the sign of a
 * broken picture. The filter paints everything within the picture's box in one colour, so the box, the attributes and
 * the accessible name stay as they are. A sheet that is adopted needs no permission in the site's policy.
 * @returns a function that ends this.
 */
export function showPlaceholders({ prefix, scope }: ResolvedOptions): () => void {
  const starts = ['ant:', 'autonomi:'];
  // A worker of an earlier visit already answers URLs below the prefix.
  if (!navigator.serviceWorker?.controller) {
    starts.push(prefix.href, prefix.pathname, prefix.pathname.slice(scope.pathname.length));
  }
  const attributes = starts.flatMap((start) => ['src', 'srcset'].map((name) => `[${name}^="${start}" i]`));
  const pictures = `:is(img,input):is(${attributes})`;
  const sheet = new CSSStyleSheet();
  // Firefox shows a picture that failed as a text without width and height. The site's own rules come before this one.
  sheet.replaceSync(`${pictures}{background:#888;filter:contrast(0)opacity(.2)}
:where(${pictures}){display:inline-block;overflow:hidden}`);
  page.adoptedStyleSheets.push(sheet);
  return () => sheet.replaceSync('');
}
