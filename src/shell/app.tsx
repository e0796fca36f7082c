import { useMemo } from 'preact/hooks';
import { Activity } from './activity.tsx';
import { AddressForm } from './address-form.tsx';
import { Bookmarks } from './bookmarks.tsx';
import { BootProblem } from './boot-problem.tsx';
import { gateway } from './gateway-api.ts';
import { Help } from './help.tsx';
import { Logo } from './logo.tsx';
import { RecentSites } from './recent-sites.tsx';
import { Sources } from './sources.tsx';
import { Storage } from './storage.tsx';
import { UpdateNotice } from './update-notice.tsx';
import { useOnline } from './use-online.ts';
import { useResource } from './use-resource.ts';
import { useStats } from './use-stats.ts';
import { useVisible } from './use-visible.ts';
import { useWorker } from './use-worker.ts';
import { WorkerStatusLine } from './worker-status-line.tsx';

const refreshMs = 5_000;

/** The shell's one page. */
export function App() {
  const visible = useVisible();
  const online = useOnline();
  const worker = useWorker();
  const active = visible && worker.status === 'running';

  const config = useResource(gateway.config, active);
  const recent = useResource(gateway.recent, active);
  const peers = useResource(gateway.peers, active, refreshMs);
  const cache = useResource(gateway.cache, active, refreshMs);
  const live = useStats(active);
  const names = useMemo(() => new Map(Object.entries(config.value?.names ?? {})), [config.value]);

  return (
    <>
      <header class="page-header">
        <a class="brand" href="/" aria-current="page">
          <Logo />
          Antway
        </a>
        <WorkerStatusLine status={worker.status} online={online} peers={peers.value} />
      </header>
      {worker.update && <UpdateNotice onUpdate={worker.update} />}
      <main>
        {worker.problem && <BootProblem problem={worker.problem} />}
        <AddressForm names={names} />
        <div class="columns">
          <div class="column">
            <Bookmarks config={config} names={names} />
            <RecentSites recent={recent} />
            <Storage cache={cache} />
          </div>
          <div class="column">
            <Activity live={live} />
            <Sources stats={live.stats} peers={peers} />
          </div>
        </div>
      </main>
      <footer>
        <Help />
      </footer>
    </>
  );
}
