import { absolute } from './content-uri.ts';
import { rewriteRules, rewriteStyle, visitSheets } from './css.ts';
import { unclobbered } from './dom.ts';

/** Reloads content below the prefix, an absolute URL, that failed because the worker could not answer yet. */
export function reloadEarly(root: Document, prefix: string): void {
  const isContent = (url: string) => url.startsWith(prefix);
  const again = <E extends Element>(element: E, name: string & keyof E) => {
    if (isContent(element[name] as string)) element.setAttribute(name, element[name] as string);
  };
  const all = <E extends Element>(selector: string) => root.querySelectorAll<E>(selector);
  for (const image of root.images) {
    const isShown = image.complete && image.naturalWidth > 0;
    if (isShown || !isContent(image.currentSrc || image.src)) continue;
    const name = image.srcset ? 'srcset' : 'src';
    image.setAttribute(name, image[name]);
  }
  for (const media of all<HTMLAudioElement | HTMLVideoElement>('audio,video')) {
    const urls = [media.src, ...Array.from(media.querySelectorAll('source'), ({ src }) => src)];
    if (media.readyState === 0 && urls.some(isContent)) media.load();
    if ('poster' in media) again(media, 'poster');
  }
  for (const element of all<HTMLInputElement | HTMLIFrameElement>('input[type=image],iframe')) {
    again(element, 'src');
  }
  for (const image of all<SVGImageElement>('image[href]')) {
    const url = absolute(image.href.baseVal, image.baseURI);
    if (isContent(url)) image.setAttribute('href', url);
  }
  // Browsers load the same URL only once for these elements. A new element loads it again.
  for (const track of all<HTMLTrackElement>('track[src]')) {
    if (isContent(track.src)) track.replaceWith(track.cloneNode());
  }
  for (const link of all<HTMLLinkElement>('link[rel~=stylesheet]')) {
    if (isContent(link.href) && !link.sheet?.cssRules.length) link.replaceWith(link.cloneNode());
  }
  const mapFrom = (base: string) => (url: string) => {
    const href = absolute(url, base);
    return isContent(href) ? href : undefined;
  };
  // Forces the browser to apply earlier changes in the sheets, see `visitSheets`.
  root.documentElement.getClientRects();
  visitSheets(root.styleSheets, ({ cssRules }, base) => rewriteRules(cssRules, mapFrom(base)));
  for (const element of all<HTMLElement>('[style*="url(" i]')) {
    const { style, baseURI } = unclobbered(element);
    rewriteStyle(style, mapFrom(baseURI));
  }
}
