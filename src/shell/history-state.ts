import { useEffect, useState } from 'preact/hooks';

/**
 * A part of a screen that belongs to its entry in the history: whoever goes back to it finds it as it was, also after
 * the document was loaded anew. Plain values only.
 */
export function useHistoryState<T extends object>(key: string, initial: T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => ({ ...initial, ...history.state?.[key] }));
  const change = (next: T) => {
    setValue(next);
    keep(key, next);
  };
  return [value, change];
}

/** It is only memory: WebKit throws where a page writes to its history too often. */
function keep(key: string, value: unknown): void {
  try {
    history.replaceState({ ...history.state, [key]: value }, '');
  } catch (error) {
    console.warn('antway: the history does not keep this', error);
  }
}

/** Browsers count how often the history is written to. */
const scrollingMs = 100;
/** What a screen shows is there by then, or never. */
const fillingMs = 10_000;

let scrolling: ReturnType<typeof setTimeout> | undefined;
/** Ends the wait for a screen that is not high enough yet. */
let restoring: AbortController | undefined;

/** Notes how far the page is scrolled. To be called before another entry of the history is made. */
export function keepScroll(): void {
  clearTimeout(scrolling);
  // Until a screen is filled it is not where it will be.
  if (!restoring) keep('scrollY', scrollY);
}

/**
 * Goes to where the entry was left, and for a new one to the top. What is asked of the worker comes later, so it waits
 * until the page is high enough, or the user scrolls.
 */
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

/** Has each entry of the history keep how far it was scrolled. @param route another object for each entry that is gone to. */
export function useScrollMemory(route: object): void {
  useEffect(() => {
    history.scrollRestoration = 'manual';
    const scrolled = () => {
      clearTimeout(scrolling);
      scrolling = setTimeout(keepScroll, scrollingMs);
    };
    // By then the entry is another.
    const left = () => clearTimeout(scrolling);
    window.addEventListener('scroll', scrolled, { passive: true });
    window.addEventListener('popstate', left);
    window.addEventListener('pagehide', keepScroll);
    return () => {
      left();
      window.removeEventListener('scroll', scrolled);
      window.removeEventListener('popstate', left);
      window.removeEventListener('pagehide', keepScroll);
    };
  }, []);
  useEffect(restoreScroll, [route]);
}
