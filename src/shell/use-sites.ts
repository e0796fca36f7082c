import { useEffect } from 'preact/hooks';
import type { ListedSite } from './gateway-api.ts';
import { gateway, onWorkerMessage } from './gateway-api.ts';
import { type Resource, useResource } from './use-resource.ts';

/**
 * All sites, asked for anew when the worker says that one was opened: it notes that a moment after the page came.
 *
 * @param everyMs as for `useResource`: for how much of them is stored, which changes while they are read.
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
