import { useMemo } from 'preact/hooks';
import { Activity } from './activity.tsx';
import { AddressForm } from './address-form.tsx';
import { Bookmarks } from './bookmarks.tsx';
import { BootProblem } from './boot-problem.tsx';
import { DecidedSites } from './decided-sites.tsx';
import { GatewayApiError, gateway } from './gateway-api.ts';
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
/** The host's configuration changes rarely, but a broken one should be seen to heal. */
const configMs = 15_000;

/** The shell's one page. */
export function App() {
  const visible = useVisible();
  const online = useOnline();
  const worker = useWorker();
  const active = visible && worker.status === 'running';

  const config = useResource(gateway.config, active, configMs);
  // A gateway that cannot say how it is configured answers nothing else either: one message says so.
  const fault = config.error ?? (config.value?.problem ? newConfigRefused(config.value.problem) : null);
  const asksMore = active && config.error === null;
  const recent = useResource(gateway.recent, asksMore);
  const decided = useResource(gateway.trust, asksMore);
  const peers = useResource(gateway.peers, asksMore, refreshMs);
  const cache = useResource(gateway.cache, asksMore, refreshMs);
  const live = useStats(asksMore);
  const names = useMemo(() => new Map(Object.entries(config.value?.names ?? {})), [config.value]);

  return (
    <>
      <header class="page-header">
        <a class="brand" href="/" aria-current="page">
          <Logo />
          Antway
        </a>
        <WorkerStatusLine status={worker.status} online={online} fault={fault} peers={peers.value} />
      </header>
      {worker.update && <UpdateNotice onUpdate={worker.update} />}
      {fault && (
        <p class="banner banner-problem" role="alert">
          <span>{fault.message}</span> <span class="code">{fault.code}</span>
        </p>
      )}
      <main>
        {worker.problem ? (
          <BootProblem problem={worker.problem} />
        ) : (
          <>
            <AddressForm names={names} />
            <div class="columns">
              <div class="column">
                <Bookmarks names={names} />
                <RecentSites recent={recent} />
                <Storage cache={cache} />
              </div>
              <div class="column">
                <Activity live={live} />
                <Sources stats={live.stats} peers={peers} />
                <DecidedSites decided={decided} names={names} />
              </div>
            </div>
          </>
        )}
      </main>
      <footer>
        <Help />
      </footer>
    </>
  );
}

function newConfigRefused(problem: string): GatewayApiError {
  return new GatewayApiError('BAD_CONFIG', `The host’s new configuration is not used: ${problem}`);
}
