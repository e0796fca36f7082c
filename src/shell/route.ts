import { useEffect, useState } from 'preact/hooks';
import { replaceDisruptive } from '../util/sanitize-text.ts';
import { keepScroll } from './history-state.ts';
import { isReaderFragment } from './readers/location.ts';

/** The screens of the shell. Each is a fragment of the same document, so the worker and the host do not know them. */
export const screens = ['open', 'library', 'live', 'publish', 'settings'] as const;
export type Screen = (typeof screens)[number];

export interface Route {
  screen: Screen;
  /** A link with a manifest (unpadded base64url) and a path within it. The path may be empty. */
  manifest?: { text: string; path: string };
  /** Text from another program, for the address box. Each time a new object, so that the same text can arrive twice. */
  incoming?: { text: string };
  /** The fragment of a file or folder that a reader shows in place of the screen. */
  reader?: string;
  /** The peer that a link suggests, for the field in the settings. Empty: only the field. Each time a new object. */
  peer?: { text: string };
  /** The path of content that the viewer shows, with its query and fragment. */
  view?: string;
}

/** A route of the viewer. */
export type ViewRoute = Route & { view: string };

/** Parses a fragment, with or without its `#`. An unknown fragment leads to the first screen. */
function parseRoute(hash: string): Route {
  const fragment = hash.replace(/^#/, '');
  if (isReaderFragment(fragment)) return { screen: 'open', reader: fragment };
  const [, text, path = ''] = /^manifest\/([\w-]+)(\/.*)?$/.exec(fragment) ?? [];
  if (text) return { screen: 'open', manifest: { text, path } };
  if (fragment.startsWith('peer=')) return { screen: 'settings', peer: { text: suggestedPeer(fragment) } };
  const view = contentPathIn(fragment);
  if (view) return { screen: 'open', view };
  const incoming = incomingIn(fragment);
  if (incoming) return { screen: 'open', incoming: { text: incoming } };
  return { screen: screens.find((screen) => screen === fragment) ?? 'open' };
}

/** Anyone can write a link, so the text is short and cannot change the text around it. */
function suggestedPeer(fragment: string): string {
  const text = new URLSearchParams(fragment).get('peer') ?? '';
  return replaceDisruptive(text.slice(0, 300), '');
}

/** Any page can link to this fragment, so it accepts only URLs that could be content of this gateway. */
function contentPathIn(fragment: string): string | undefined {
  const [, path] = /^view=(.*)$/s.exec(fragment) ?? [];
  if (!path || !URL.canParse(`/${path}`, location.origin)) return undefined;
  const { origin, pathname, search, hash } = new URL(`/${path}`, location.origin);
  const isContent = origin === location.origin && /^\/[A-Za-z\d][\w.-]{0,99}(\/|$)/.test(pathname);
  return isContent && pathname !== '/index.html' ? pathname + search + hash : undefined;
}

/**
 * Returns the text of a protocol link (`open=`, see `protocol_handlers` in the manifest), or of shared data (`url=`,
 * `text=`, `title=`, from the worker's answer to `share_target`).
 */
function incomingIn(fragment: string): string | undefined {
  if (!/^(open|url|text|title)=/.test(fragment)) return undefined;
  const fields = new URLSearchParams(fragment);
  const given = ['open', 'url', 'text', 'title'].map((key) => fields.get(key)?.trim()).filter(Boolean);
  // Programs put a link into any of the fields, with other words around it.
  const links = given.flatMap((text) => text!.match(/(?:[a-z][a-z0-9+.-]*:\S+|\b[0-9a-f]{64}\b\S*)/gi) ?? []);
  const found = links[0] ?? given[0];
  return found && replaceDisruptive(found, '');
}

/** Removes the received text from the URL, so that a reload does not open it again. */
export function forgetIncoming(): void {
  history.replaceState(history.state, '', hrefOf('open'));
}

/** Returns the URL of a screen. The first screen has no fragment, so that the start page's URL is short. */
export function hrefOf(screen: Screen): string {
  return screen === 'open' ? '/' : `/#${screen}`;
}

/** @param path of content, with a leading slash. */
export function hrefOfView(path: string): string {
  return path === '/' ? '/' : `/#view=${path.slice(1)}`;
}

/** Shows content in the viewer, or the first screen for the path `/`. @param isReplacing whether the history entry of this screen is replaced. */
export function goToView(path: string, isReplacing = false): void {
  if (isReplacing) {
    history.replaceState(null, '', hrefOfView(path));
    window.dispatchEvent(new PopStateEvent('popstate'));
  } else goToHref(hrefOfView(path));
}

export function goTo(screen: Screen): void {
  goToHref(hrefOf(screen));
}

function goToHref(href: string): void {
  if (location.pathname + location.search + location.hash !== href) {
    keepScroll();
    history.pushState(null, '', href);
  }
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** The current route. It follows links and the back and forward buttons. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const look = () => setRoute(parseRoute(location.hash));
    // Do not listen to `hashchange`: a typed or launched fragment causes both events, and would be opened twice.
    window.addEventListener('popstate', look);
    return () => window.removeEventListener('popstate', look);
  }, []);
  return route;
}
