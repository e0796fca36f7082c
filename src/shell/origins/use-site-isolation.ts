import { useEffect, useState } from 'preact/hooks';
import { type Resource, useResource } from '../use-resource.ts';
import { type SiteIsolation, siteIsolation } from './site-isolation.ts';

const againMs = 3_000;

/** Where sites run. Asks again while that is not known, and when the device is online again. */
export function useSiteIsolation(active: boolean): Resource<SiteIsolation> {
  const [everyMs, setEveryMs] = useState<number | undefined>();
  const isolation = useResource(siteIsolation, active, everyMs);
  const { value, refresh } = isolation;
  useEffect(() => setEveryMs(value === 'unknown' ? againMs : undefined), [value]);
  useEffect(() => {
    window.addEventListener('online', refresh);
    return () => window.removeEventListener('online', refresh);
  }, [refresh]);
  return isolation;
}
