import type { Route } from '../route.ts';
import { useSites } from '../use-sites.ts';
import { AddressForm } from './address-form.tsx';
import { Bookmarks } from './bookmarks.tsx';
import { Help } from './help.tsx';
import { RecentSites } from './recent-sites.tsx';

interface Props {
  route: Route;
  /** Name → address of this gateway's bookmarks. */
  names: ReadonlyMap<string, string>;
  active: boolean;
  /** Whether names are known, so that what came from outside can be opened. */
  isReady: boolean;
}

/** The start: an address box, and what was opened before. */
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
