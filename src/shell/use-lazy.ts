import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Loads a component that the first screen does not need. Null until it is loaded. @param load must be stable. */
export function useLazy<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  const [loaded, setLoaded] = useState<{ component: ComponentType<Props> } | null>(null);
  useEffect(() => {
    load().then(
      (module) => setLoaded({ component: module.default }),
      (error) => console.warn('antway: a part of this screen could not be loaded', error),
    );
  }, []);
  return loaded?.component ?? null;
}
