import { useRef } from 'preact/hooks';
import '../styles/live-flow.css';
import { Address } from '../../address.ts';
import type { ActivityReport } from '../../gateway/api/activity.ts';
import { siteOrigin } from '../../gateway/origins/site-host.ts';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { gateway, type ListedSite, type PeerStatus } from '../gateway-api.ts';
import { useHistoryState } from '../history-state.ts';
import { askSite } from '../origins/site-bridge.ts';
import { type Resource, useResource } from '../use-resource.ts';
import { useSites } from '../use-sites.ts';
import { Activity } from './activity.tsx';
import { ChunkMap } from './chunk-map.tsx';
import { Lifetime } from './lifetime.tsx';
import { PeerTable } from './peer-table.tsx';
import { SourceLanes } from './source-lanes.tsx';
import { StatsActions } from './stats-actions.tsx';
import { SiteStorage, Storage, StorageOfAll } from './storage.tsx';
import { sumStats, withHostPeer } from './sum-stats.ts';
import { noThroughput, sumThroughput } from './throughput.ts';
import { ThroughputSection } from './throughput-section.tsx';
import { TransferList } from './transfer-list.tsx';
import { type Measured, type TransfersOf, transferRows } from './transfer-rows.ts';
import { followedSites, type SiteFigures, useSiteFigures } from './use-site-figures.ts';
import { useStats } from './use-stats.ts';
import { isSiteView, type OriginSelection, ViewSelect } from './view-select.tsx';

const refreshMs = 5_000;
const activityMs = 1_000;
/** The worker announces opened sites. This interval updates their pins and stored chunks. */
const sitesMs = 15_000;

interface Props {
  active: boolean;
  peers: Resource<PeerStatus[]>;
}

/** The workers of the gateway and of sites' origins send their figures only while this screen is open. */
export default function LiveView({ active, peers }: Props) {
  const live = useStats(active);
  const activity = useResource(gateway.activity, active, activityMs);
  const cache = useResource(gateway.cache, active, refreshMs);
  const pins = useResource(gateway.watchPins, active, refreshMs);
  const origins = useResource(gateway.origins, active, refreshMs);
  const sites = useSites(active, sitesMs);
  const followed = followedSites(sites.value);
  const figures = useSiteFigures(followed, active);
  const [{ view: wanted }, setView] = useHistoryState<{ view: OriginSelection }>('live', { view: 'all' });

  const hasSites = followed.length > 0;
  const site = followed.find(({ address }) => address === wanted) ?? null;
  const view: OriginSelection = !hasSites ? 'own' : isSiteView(wanted) && !site ? 'all' : wanted;
  const own: OriginFigures = { site: null, stats: live.stats, activity: activity.value };
  const shown = shownOrigins(view, own, figures, followed);
  const stats = summed(view, shown);
  const error = view === site?.address ? null : (live.error ?? activity.error);
  const reports = shown.map((each) => each.activity).filter((each) => each !== null);
  const rows = useTransferRows(shown, sites.value ?? []);

  async function reset() {
    if (!site) await gateway.resetStats();
    const cleared = site ? [site] : view === 'all' ? followed : [];
    for (const { address } of cleared) await askSite(address, 'activity', { method: 'DELETE' });
    activity.refresh();
  }

  // The choice of a site is above all the rest, and would move it.
  if (!sites.value && !sites.error) return null;
  return (
    <>
      {hasSites && (
        <ViewSelect
          view={view}
          sites={followed}
          figures={figures}
          hasMore={(sites.value ?? []).filter(({ hasOwnOrigin }) => hasOwnOrigin).length > followed.length}
          onChange={(next) => setView({ view: next })}
        />
      )}
      <div class="stack live">
        <Lifetime report={lifetimeOf(reports)} onReset={reset} />
        <ThroughputSection throughput={reports.length > 0 ? sumThroughput(reports) : noThroughput} />
        <div class="columns">
          <SourceLanes stats={stats} peers={site ? noStates : peers} view={view} />
          <TransferList rows={rows} />
        </div>
        {!site && <ChunkMap reading={live.stats?.reading ?? null} isOwnOnly={hasSites} />}
        <div class="columns">
          <Activity stats={stats} report={lifetimeOf(reports)} error={error} isSum={view === 'all'} />
          {site ? (
            <SiteStorage
              site={site}
              cache={figures.find(({ address }) => address === view)?.cache ?? null}
              onChange={sites.refresh}
            />
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
      <div class="screen-actions">
        <StatsActions stats={stats} />
      </div>
    </>
  );
}

/** Connection states are known only for the gateway's own origin, not for the origins of sites. */
const noStates: Resource<PeerStatus[]> = { value: [], error: null, refresh() {} };

interface OriginFigures {
  /** Null for the gateway's own origin. */
  site: ListedSite | null;
  stats: StatsSnapshot | null;
  activity: ActivityReport | null;
}

function shownOrigins(
  view: OriginSelection,
  own: OriginFigures,
  figures: readonly SiteFigures[],
  sites: readonly ListedSite[],
): OriginFigures[] {
  const ofSites = figures.map(({ address, stats, activity }) => {
    const origin = siteOrigin(Address.fromHex(address), location.origin);
    return {
      site: sites.find((site) => site.address === address) ?? null,
      stats: stats && origin ? withHostPeer(stats, origin, location.origin) : stats,
      activity,
    };
  });
  if (isSiteView(view)) return ofSites.filter(({ site }) => site?.address === view);
  return view === 'own' ? [own] : [own, ...ofSites.filter(({ site }) => site !== null)];
}

/** The sum of all is known only when the figures of the gateway's own origin are. */
function summed(view: OriginSelection, [first, ...others]: readonly OriginFigures[]): StatsSnapshot | null {
  if (!first?.stats) return null;
  const known = others.map(({ stats }) => stats).filter((stats) => stats !== null);
  return view === 'all' ? sumStats([first.stats, ...known]) : first.stats;
}

function lifetimeOf(reports: readonly ActivityReport[]): Pick<ActivityReport, 'lifetime' | 'since'> | null {
  const [first, ...others] = reports;
  return others.reduce<Pick<ActivityReport, 'lifetime' | 'since'> | null>((sum, { lifetime, since }) => {
    const keys = Object.keys(lifetime) as (keyof ActivityReport['lifetime'])[];
    const added = keys.map((key) => [key, sum!.lifetime[key] + lifetime[key]]);
    return { lifetime: Object.fromEntries(added), since: Math.min(sum!.since, since) };
  }, first ?? null);
}

/** Measures the rates between the reports. Other renderings do not measure again, because the clock is the report's. */
function useTransferRows(origins: readonly OriginFigures[], sites: readonly ListedSite[]) {
  const measured = useRef<ReadonlyMap<string, Measured>>(new Map());
  const known = origins.flatMap(({ site, activity }): TransfersOf[] =>
    activity ? [{ site, transfers: activity.transfers, now: activity.now }] : [],
  );
  const next = transferRows(known, sites, measured.current);
  measured.current = next.measured;
  return next.rows;
}
