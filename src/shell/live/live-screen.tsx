import { gateway, type PeerStatus } from '../gateway-api.ts';
import { ScreenHeading } from '../screen-heading.tsx';
import { texts } from '../texts/texts.ts';
import { type Resource, useResource } from '../use-resource.ts';
import { Activity } from './activity.tsx';
import { ChunkMap } from './chunk-map.tsx';
import { PeerTable } from './peer-table.tsx';
import { Sources } from './sources.tsx';
import { StatsActions } from './stats-actions.tsx';
import { Storage } from './storage.tsx';
import { ThroughputSection } from './throughput-section.tsx';
import { useStats } from './use-stats.ts';

const refreshMs = 5_000;

interface Props {
  active: boolean;
  peers: Resource<PeerStatus[]>;
}

/** What the gateway does now, and did since its worker started. The worker counts for it only while it is open. */
export function LiveScreen({ active, peers }: Props) {
  const live = useStats(active);
  const cache = useResource(gateway.cache, active, refreshMs);
  const pins = useResource(gateway.watchPins, active, refreshMs);
  return (
    <>
      <ScreenHeading title={texts.live.title} intro={texts.live.intro}>
        <StatsActions stats={live.stats} />
      </ScreenHeading>
      <div class="stack">
        <ThroughputSection throughput={live.throughput} />
        <div class="columns">
          <Activity live={live} />
          <ChunkMap reading={live.stats?.reading ?? null} />
          <Sources stats={live.stats} peers={peers} />
          <Storage cache={cache} pins={pins} />
        </div>
        <PeerTable stats={live.stats} peers={peers} />
      </div>
    </>
  );
}
