import type { Route } from '../route.ts';
import { useSites } from '../use-sites.ts';
import { AddressForm } from './address-form.tsx';
import { Bookmarks } from './bookmarks.tsx';
import { Help } from './help.tsx';
import { RecentSites } from './recent-sites.tsx';

interface Props {
  route: Route;
  names: ReadonlyMap<string, string>;
  active: boolean;
  /** Whether the names are known. Before that, input from outside the page cannot be opened. */
  isReady: boolean;
}

export function OpenScreen({ route, names, active, isReady }: Props) {
  const sites = useSites(active);
  return (
    <>
      <AddressForm names={names} route={route} isReady={isReady} />
      <Bookmarks names={names} />
      <RecentSites sites={sites} />
      <footer>
        <Help />
      </footer>
    </>
  );
}
