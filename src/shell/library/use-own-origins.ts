import { useEffect, useRef } from 'preact/hooks';
import { forEachInParallel } from '../../util/parallel.ts';
import { asGatewayApiError, type ListedSite } from '../gateway-api.ts';
import { parallelSites } from '../origins/site-bridge.ts';
import { siteOriginClient } from '../origins/site-origin-client.ts';

/** The number of recently opened sites whose origins are asked. Origins of pinned sites are always asked. */
const most = 20;
const pauseMs = 30_000;
const workingPauseMs = 1_500;

/** Asks the origins of the listed sites for their stored chunks, repeatedly while the library is shown. */
export function useOwnOrigins(sites: readonly ListedSite[] | null, active: boolean): void {
  const newest = useRef(sites);
  newest.current = sites;
  const isKnown = sites !== null;
  useEffect(() => {
    if (!active || !isKnown) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastOfAll = 0;
    const ask = async () => {
      const own = newest.current?.filter(({ hasOwnOrigin }) => hasOwnOrigin) ?? [];
      const working = own.filter(({ pin }) => pin && pin.activity !== 'idle' && pin.activity !== 'paused');
      const isTimeForAll = Date.now() - lastOfAll > pauseMs;
      if (isTimeForAll) lastOfAll = Date.now();
      const asked = isTimeForAll ? own.filter((site, i) => i < most || site.pin) : working;
      await forEachInParallel(asked, parallelSites, async ({ address }) => {
        if (isOver) return;
        await siteOriginClient.refresh(address, { isBackground: true }).catch((error) => {
          console.warn(`antway: the origin of ${address} was not asked:`, asGatewayApiError(error).message);
        });
      });
      if (!isOver) timer = setTimeout(ask, workingPauseMs);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [active, isKnown]);
}
