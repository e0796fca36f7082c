import type { StatsSnapshot } from '../../stats/stats.ts';
import { type GatewayApiError, gateway, type PeerStatus } from '../gateway-api.ts';
import { useHistoryState } from '../history-state.ts';
import { ScreenHeading } from '../screen-heading.tsx';
import { texts } from '../texts/texts.ts';
import { type Resource, useResource } from '../use-resource.ts';
import { useSites } from '../use-sites.ts';
import { Activity } from './activity.tsx';
import { ChunkMap } from './chunk-map.tsx';
import { PeerTable } from './peer-table.tsx';
import { Sources } from './sources.tsx';
import { StatsActions } from './stats-actions.tsx';
import { SiteStorage, Storage, StorageOfAll } from './storage.tsx';
import { sumStats } from './sum-stats.ts';
import { sumSamples } from './throughput.ts';
import { ThroughputSection } from './throughput-section.tsx';
import { followedSites, type SiteFigures, useSiteFigures } from './use-site-figures.ts';
import { type LiveStats, useStats } from './use-stats.ts';
import { isSiteView, type View, ViewSelect } from './view-select.tsx';

const refreshMs = 5_000;
/** The worker announces opened sites. This interval updates their pins and stored chunks. */
const sitesMs = 15_000;

interface Props {
  active: boolean;
  peers: Resource<PeerStatus[]>;
}

/** The workers of the gateway and of sites' origins send their figures only while this screen is open. */
export function LiveScreen({ active, peers }: Props) {
  const live = useStats(active);
  const cache = useResource(gateway.cache, active, refreshMs);
  const pins = useResource(gateway.watchPins, active, refreshMs);
  const origins = useResource(gateway.origins, active, refreshMs);
  const sites = useSites(active, sitesMs);
  const followed = followedSites(sites.value);
  const figures = useSiteFigures(followed, active);
  const [{ view: wanted }, setView] = useHistoryState<{ view: View }>('live', { view: 'all' });

  const hasSites = followed.length > 0;
  const site = followed.find(({ address }) => address === wanted);
  const view: View = !hasSites ? 'own' : isSiteView(wanted) && !site ? 'all' : wanted;
  const siteFigures = figures.find(({ address }) => address === view) ?? null;
  const { stats, samples, error } = shownFigures(view, live, figures, siteFigures);
  return (
    <>
      <ScreenHeading title={texts.live.title} intro={texts.live.intro}>
        <StatsActions stats={stats} />
      </ScreenHeading>
      {hasSites && (
        <ViewSelect
          view={view}
          sites={followed}
          figures={figures}
          hasMore={(sites.value ?? []).filter(({ hasOwnOrigin }) => hasOwnOrigin).length > followed.length}
          onChange={(next) => setView({ view: next })}
        />
      )}
      <div class="stack">
        <ThroughputSection samples={samples} />
        <div class="columns">
          <Activity stats={stats} error={error} isSum={view === 'all'} />
          {!site && <ChunkMap reading={live.stats?.reading ?? null} isOwnOnly={hasSites} />}
          <Sources stats={stats} peers={site ? noStates : peers} />
          {site ? (
            <SiteStorage site={site} cache={siteFigures?.cache ?? null} onChange={sites.refresh} />
          ) : view === 'all' ? (
            <StorageOfAll
              cache={cache}
              sites={sites.value ?? []}
              origins={origins.value ?? []}
              figures={figures}
            />
          ) : (
            <Storage cache={cache} pins={pins} />
          )}
        </div>
        {!site && <PeerTable stats={stats} peers={peers} isSum={view === 'all'} />}
      </div>
    </>
  );
}

/** Connection states are known only for the gateway's own origin, not for the origins of sites. */
const noStates: Resource<PeerStatus[]> = { value: [], error: null, refresh() {} };

interface Figures {
  stats: StatsSnapshot | null;
  samples: readonly number[];
  error: GatewayApiError | null;
}

function shownFigures(
  view: View,
  { stats, throughput, error }: LiveStats,
  figures: readonly SiteFigures[],
  site: SiteFigures | null,
): Figures {
  if (isSiteView(view)) return site ?? { stats: null, samples: [], error: null };
  if (view === 'own') return { stats, samples: throughput.samples, error };
  const known = figures.map((each) => each.stats).filter((each) => each !== null);
  return {
    stats: stats && sumStats([stats, ...known]),
    samples: sumSamples([throughput.samples, ...figures.map((each) => each.samples)]),
    error,
  };
}
