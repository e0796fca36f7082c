import { useEffect, useState } from 'preact/hooks';
import { keepScroll } from './history-state.ts';

/** The shell's screens. Each is a fragment of the one document, so the worker and the host know nothing of them. */
export const screens = ['open', 'library', 'live', 'publish', 'settings'] as const;
export type Screen = (typeof screens)[number];

/** What the fragment of the shell's URL asks for. */
export interface Route {
  screen: Screen;
  /** Of a link that carries a manifest (unpadded base64url), with a path within it, which may be empty. */
  manifest?: { text: string; path: string };
  /** What another program handed over, for the address box. Each time anew, so that the same can come twice. */
  incoming?: { text: string };
}

/** @param hash with or without its `#`. What is not known is the first screen. */
export function parseRoute(hash: string): Route {
  const fragment = hash.replace(/^#/, '');
  const [, text, path = ''] = /^manifest\/([\w-]+)(\/.*)?$/.exec(fragment) ?? [];
  if (text) return { screen: 'open', manifest: { text, path } };
  const incoming = incomingIn(fragment);
  if (incoming) return { screen: 'open', incoming: { text: incoming } };
  return { screen: screens.find((screen) => screen === fragment) ?? 'open' };
}

/**
 * A link of our kind (`open=`, see `protocol_handlers` in the manifest), or something shared (`url=`, `text=`,
 * `title=`: the worker's answer to `share_target`).
 */
function incomingIn(fragment: string): string | undefined {
  if (!/^(open|url|text|title)=/.test(fragment)) return undefined;
  const fields = new URLSearchParams(fragment);
  const given = ['open', 'url', 'text', 'title'].map((key) => fields.get(key)?.trim()).filter(Boolean);
  // Programs put a link into whichever of the fields they like, with words around it.
  const links = given.flatMap((text) => text!.match(/(?:[a-z][a-z0-9+.-]*:\S+|\b[0-9a-f]{64}\b\S*)/gi) ?? []);
  return links[0] ?? given[0];
}

/** Takes what was handed over out of the URL, so that a reload does not open it once more. */
export function forgetIncoming(): void {
  history.replaceState(history.state, '', hrefOf('open'));
}

/** The URL of a screen. The first has no fragment, so that the start page's URL is short. */
export function hrefOf(screen: Screen): string {
  return screen === 'open' ? '/' : `/#${screen}`;
}

/** Goes to a screen without loading the document anew. */
export function goTo(screen: Screen): void {
  if (location.pathname + location.search + location.hash !== hrefOf(screen)) {
    keepScroll();
    history.pushState(null, '', hrefOf(screen));
  }
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** The route as the user follows links, and goes back and forward. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const look = () => setRoute(parseRoute(location.hash));
    // Not `hashchange` as well: a fragment that is typed or launched comes as both, and would be opened twice.
    window.addEventListener('popstate', look);
    return () => window.removeEventListener('popstate', look);
  }, []);
  return route;
}
