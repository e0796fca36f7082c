import { useEffect, useState } from 'preact/hooks';

interface Subscribable {
  /** @returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/** A state outside of the components, which outlives the screens. */
export class Observable<State> implements Subscribable {
  readonly #listeners = new Set<() => void>();

  constructor(public state: State) {}

  set(state: State): void {
    this.state = state;
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export function useObserved<T>(object: Subscribable, read: () => T): T {
  const [value, setValue] = useState(read);
  useEffect(() => {
    const look = () => setValue(read);
    // The value may have changed since the rendering.
    look();
    return object.subscribe(look);
  }, []);
  return value;
}

const pageEvents: Subscribable = {
  subscribe(listener) {
    const end = new AbortController();
    for (const type of ['online', 'offline', 'visibilitychange'])
      window.addEventListener(type, listener, { signal: end.signal });
    return () => end.abort();
  },
};

/** Whether the browser believes that it has a network. False is reliable, true is not. */
export function useOnline(): boolean {
  return useObserved(pageEvents, () => navigator.onLine);
}

/** Whether the user can see this page. While it is false, the shell makes no requests and no computations. */
export function useVisible(): boolean {
  return useObserved(pageEvents, () => document.visibilityState === 'visible');
}
