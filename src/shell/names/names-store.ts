import { useEffect } from 'preact/hooks';
import { NameBook, noNames } from '../../names/name-book.ts';
import type { Settings } from '../../server-config.ts';
import { type GatewayConfig, gateway, onWorkerMessage } from '../gateway-api.ts';
import { Observable, useObserved } from '../observable.ts';
import { partProblem } from '../part-problem.ts';
import { followLists, lists, readLists } from './stored-lists.ts';

/** The names that this page knows. */
export interface KnownNames {
  book: NameBook;
  /** Whether the names of all sources are known. */
  isComplete: boolean;
}

const known = new Observable<KnownNames>({ book: noNames, isComplete: false });
const sources: { own: Settings['names'] | null; config: GatewayConfig | null } = { own: null, config: null };

function update(): void {
  const { own, config } = sources;
  const stored = lists.state;
  const labels = Object.entries(config?.nameLists ?? {});
  const ofLists = labels.map(([label, address]) => [label, stored?.get(address)?.names ?? {}] as const);
  const book = new NameBook({ own: own ?? {}, host: config?.names ?? {}, lists: new Map(ofLists) });
  known.set({ book, isComplete: own !== null && config !== null && stored !== null });
}

/** The names that this page knows: of the user, the host and the lists. */
export function useNames(): KnownNames {
  return useObserved(known, () => known.state);
}

/**
 * Keeps the names up to date while the app is in use. Called once, by the frame of all screens.
 * @param active whether the gateway runs.
 */
export function useNamesOf(active: boolean, config: GatewayConfig | null): void {
  useEffect(() => {
    sources.config = config;
    update();
  }, [config]);

  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    const readOwn = () =>
      gateway.settings(stop.signal).then(
        ({ names = {} }) => {
          sources.own = names;
          update();
        },
        (error) => {
          if (stop.signal.aborted) return;
          console.warn('antway: your names cannot be read', error);
          // The other names must open all the same.
          sources.own ??= {};
          update();
        },
      );
    const ends = [
      lists.subscribe(update),
      followLists(),
      onWorkerMessage(({ type }) => {
        if (type === 'settings') void readOwn();
      }),
    ];
    void readOwn();
    void readLists();
    return () => {
      stop.abort();
      for (const end of ends) end();
    };
  }, [active]);

  const wanted = config && JSON.stringify(config.nameLists);
  useEffect(() => {
    if (!active || !wanted) return;
    const stop = new AbortController();
    const refresh = async () => {
      if (lists.state === null) await readLists();
      const isNone = wanted === '{}' && lists.state?.size === 0;
      // The code that parses lists is not part of the first screen.
      const { refreshLists } = isNone ? {} : await import('./refresh-lists.ts');
      await refreshLists?.(JSON.parse(wanted), stop.signal);
    };
    const run = () => {
      refresh().catch((error) => {
        if (!stop.signal.aborted) console.warn('antway: the lists of names', partProblem(error).message);
      });
    };
    run();
    // A page that stays open must not keep old names for days.
    const timer = setInterval(run, 10 * 60_000);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [active, wanted]);
}
