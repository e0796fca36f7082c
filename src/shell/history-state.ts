import { useEffect, useState } from 'preact/hooks';

/** State of a screen in its history entry. It survives going back and a new load of the document. Plain values only. */
export function useHistoryState<T extends object>(key: string, initial: T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => ({ ...initial, ...history.state?.[key] }));
  const change = (next: T) => {
    setValue(next);
    keep(key, next);
  };
  return [value, change];
}

/** Stores a value in the history entry. Ignores errors: WebKit throws when a page writes to its history too often. */
function keep(key: string, value: unknown): void {
  try {
    history.replaceState({ ...history.state, [key]: value }, '');
  } catch (error) {
    console.warn('antway: the history does not keep this', error);
  }
}

/** The delay before a write of the scroll position, in milliseconds. Browsers limit the rate of writes. */
const scrollingMs = 100;
/** How long to wait until a screen is high enough, in milliseconds. A long list takes long on a slow device. */
const fillingMs = 60_000;

let scrolling: ReturnType<typeof setTimeout> | undefined;
let restoring: AbortController | undefined;

/** Stores the scroll position in the history entry. Call it before you create another entry. */
export function keepScroll(): void {
  clearTimeout(scrolling);
  // While a restoration waits, the current position is not the position to store.
  if (!restoring) keep('scrollY', scrollY);
}

/** Screens load their data later, so this waits until the page is high enough or the user scrolls. */
function restoreScroll(): void {
  restoring?.abort();
  restoring = undefined;
  const y: number = history.state?.scrollY ?? 0;
  const root = document.documentElement;
  const isReachable = () => root.scrollHeight - root.clientHeight >= y;
  if (isReachable()) {
    scrollTo(0, y);
    return;
  }
  const end = new AbortController();
  restoring = end;
  const stop = () => {
    end.abort();
    if (restoring === end) restoring = undefined;
  };
  const observer = new ResizeObserver(() => {
    if (!isReachable()) return;
    stop();
    scrollTo(0, y);
  });
  observer.observe(document.body);
  const timer = setTimeout(stop, fillingMs);
  end.signal.addEventListener('abort', () => {
    observer.disconnect();
    clearTimeout(timer);
  });
  for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    window.addEventListener(type, stop, { signal: end.signal, passive: true });
  }
}

/** @param route a new object for each visited entry. */
export function useScrollMemory(route: object): void {
  useEffect(() => {
    history.scrollRestoration = 'manual';
    const scrolled = () => {
      clearTimeout(scrolling);
      scrolling = setTimeout(keepScroll, scrollingMs);
    };
    // At this time, another entry is already current.
    const left = () => clearTimeout(scrolling);
    const stop = new AbortController();
    const { signal } = stop;
    window.addEventListener('scroll', scrolled, { passive: true, signal });
    window.addEventListener('popstate', left, { signal });
    window.addEventListener('pagehide', keepScroll, { signal });
    return () => {
      left();
      stop.abort();
    };
  }, []);
  useEffect(restoreScroll, [route]);
}
