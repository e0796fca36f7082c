import { useEffect, useState } from 'preact/hooks';

/** The shell's screens. Each is a fragment of the one document, so the worker and the host know nothing of them. */
export const screens = ['open', 'library', 'live', 'publish', 'settings'] as const;
export type Screen = (typeof screens)[number];

/** What the fragment of the shell's URL asks for. */
export interface Route {
  screen: Screen;
  /** Of a link that carries a manifest (unpadded base64url), with a path within it, which may be empty. */
  manifest?: { text: string; path: string };
}

/** @param hash with or without its `#`. What is not known is the first screen. */
export function parseRoute(hash: string): Route {
  const fragment = hash.replace(/^#/, '');
  const [, text, path = ''] = /^manifest\/([\w-]+)(\/.*)?$/.exec(fragment) ?? [];
  if (text) return { screen: 'open', manifest: { text, path } };
  return { screen: screens.find((screen) => screen === fragment) ?? 'open' };
}

/** The URL of a screen. The first has no fragment, so that the start page's URL is short. */
export function hrefOf(screen: Screen): string {
  return screen === 'open' ? '/' : `/#${screen}`;
}

/** Goes to a screen without loading the document anew. */
export function goTo(screen: Screen): void {
  if (location.pathname + location.search + location.hash !== hrefOf(screen)) {
    history.pushState(null, '', hrefOf(screen));
  }
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** The route as the person follows links, and goes back and forward. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const look = () => setRoute(parseRoute(location.hash));
    // Fragments that are typed into the browser's own address bar come as both.
    window.addEventListener('popstate', look);
    window.addEventListener('hashchange', look);
    return () => {
      window.removeEventListener('popstate', look);
      window.removeEventListener('hashchange', look);
    };
  }, []);
  return route;
}
