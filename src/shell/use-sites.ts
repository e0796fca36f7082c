import { useEffect } from 'preact/hooks';
import type { ListedSite } from './gateway-api.ts';
import { gateway, onWorkerMessage } from './gateway-api.ts';
import { type Resource, useResource } from './use-resource.ts';

/**
 * Loads the list again when the worker reports a visit, which it records shortly after the page is loaded.
 * @param everyMs as of `useResource`. Needed for the stored share of sites, which changes while they are read.
 */
export function useSites(active: boolean, everyMs?: number): Resource<ListedSite[]> {
  const sites = useResource(gateway.sites, active, everyMs);
  useEffect(() => {
    if (!active) return;
    return onWorkerMessage(({ type }) => {
      if (type === 'visits') sites.refresh();
    });
  }, [active, sites.refresh]);
  return sites;
}
