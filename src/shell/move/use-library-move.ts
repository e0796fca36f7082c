import type { ConfigSources } from '../../config.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { useObserved } from '../observable.ts';
import { useResource } from '../use-resource.ts';
import { useSites } from '../use-sites.ts';
import { publicationsHere } from './library-here.ts';
import { libraryMove, type MoveState } from './library-move.ts';
import { findOtherAddress } from './other-address.ts';

/** The offer to move the library to the address of this gateway where sites have their own origins. */
export interface MoveOffer {
  target: string;
  hasLibrary: boolean;
  state: MoveState;
  refresh(): void;
}

/** @returns null if there is no other address, or if the library is already there. */
export function useLibraryMove(active: boolean, config: GatewayConfig | null): MoveOffer | null {
  const isWanted = active && config !== null && config.isolation !== 'path';
  const { value: target } = useResource(findOtherAddress, isWanted);
  const sites = useSites(active && target !== null);
  // The code for it is loaded only if nothing else tells that there is a library.
  const published = useResource(publicationsHere, target !== null && sites.value?.length === 0);
  const state = useObserved(libraryMove, () => libraryMove.state);
  if (target === null || config === null) return null;
  const entries = (sites.value?.length ?? 0) + (published.value?.length ?? 0);
  const hasLibrary = hasOwnSettings(config.sources) || entries > 0;
  const refresh = () => {
    sites.refresh();
    published.refresh();
  };
  return { target, hasLibrary, state, refresh };
}

function hasOwnSettings(sources: ConfigSources): boolean {
  return Object.values(sources)
    .flatMap((source) => (typeof source === 'string' ? source : Object.values(source)))
    .includes('user');
}
