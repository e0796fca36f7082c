import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { CatalogueEntry } from '../../server-config.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import type { KnownNames } from '../names/names-store.ts';
import type { Route } from '../route.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { useSites } from '../use-sites.ts';
import { AddressForm } from './address-form.tsx';
import { Help } from './help.tsx';
import type { Shelf as ShelfComponent } from './shelf.tsx';

interface Props {
  route: Route;
  names: KnownNames;
  config: GatewayConfig | null;
  active: boolean;
  /** Whether the gateway runs and the names are known. Before that, input from outside the page cannot be opened. */
  isReady: boolean;
}

type Lists = ReadonlyMap<string, readonly CatalogueEntry[]>;

/** The start page: one input for everything, and below it the shelf. */
export function OpenScreen({ route, names, config, active, isReady }: Props) {
  const sites = useSites(active);
  const Shelf = useShelf();
  const [lists, setLists] = useState<Lists>(new Map());
  const addList = useCallback((title: string, entries: readonly CatalogueEntry[]) => {
    setLists((known) => new Map(known).set(title, entries));
  }, []);
  const source = useMemo(
    () => ({ sites: sites.value ?? [], names: names.book, config, lists }),
    [sites.value, names.book, config, lists],
  );
  // Names that arrive after the rows would move them.
  const isShelfKnown = config && names.isComplete && (sites.value || sites.error);
  return (
    <>
      <div class="hero">
        <h1 tabIndex={-1}>{texts.open.title}</h1>
        <p class="intro">{texts.open.intro}</p>
      </div>
      <AddressForm source={source} route={route} isReady={isReady} />
      <div class="shelf">
        {Shelf && isShelfKnown ? (
          <Shelf sites={sites} names={names.book} config={config} active={active} onEntries={addList} />
        ) : (
          // The key keeps Preact from moving this section to the place of another.
          <Section key="waiting" id="recent" title={texts.open.recent}>
            <p class="empty">{texts.common.notKnownYet}</p>
          </Section>
        )}
      </div>
      <footer>
        <Help />
      </footer>
    </>
  );
}

/** The shelf is loaded after the first picture of the page. Once it is loaded, every later start page shows it at once. */
let loaded: typeof ShelfComponent | null = null;

function useShelf(): typeof ShelfComponent | null {
  const [Shelf, setShelf] = useState(() => loaded);
  useEffect(() => {
    if (loaded) return;
    import('./shelf.tsx')
      .then((module) => {
        loaded = module.Shelf;
        setShelf(() => loaded);
      })
      .catch((error) => console.warn('antway: the shelf could not be loaded', error));
  }, []);
  return Shelf;
}
