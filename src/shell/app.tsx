import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { BootProblem } from './boot-problem.tsx';
import { GatewayApiError, type GatewayConfig, gateway, onWorkerMessage } from './gateway-api.ts';
import { useScrollMemory } from './history-state.ts';
import { InstallNotice } from './install-notice.tsx';
import { LibraryScreen } from './library/library-screen.tsx';
import { LiveScreen } from './live/live-screen.tsx';
import { Logo } from './logo.tsx';
import { MoveNotice } from './move/move-notice.tsx';
import { useLibraryMove } from './move/use-library-move.ts';
import { Navigation } from './navigation.tsx';
import { OpenScreen } from './open/open-screen.tsx';
import { ownOrigins } from './own-origins.ts';
import { tellAppearance } from './preferences.ts';
import { ProblemText } from './problem-text.tsx';
import { PublishScreen } from './publish/publish-screen.tsx';
import { type Screen, useRoute } from './route.ts';
import { ScreenLink } from './screen-link.tsx';
import { SettingsScreen } from './settings/settings-screen.tsx';
import { texts } from './texts/texts.ts';
import { UpdateNotice } from './update-notice.tsx';
import { useOnline } from './use-online.ts';
import { useResource } from './use-resource.ts';
import { useVisible } from './use-visible.ts';
import { useWorker } from './use-worker.ts';
import { WorkerStatusLine } from './worker-status-line.tsx';

const refreshMs = 5_000;
/** The host's configuration changes rarely, but a broken one should be seen to heal. */
const configMs = 15_000;

/** The frame around all screens, and what more than one of them asks the gateway. */
export function App({ onLanguage }: { onLanguage: () => void }) {
  const route = useRoute();
  const visible = useVisible();
  const online = useOnline();
  const worker = useWorker();
  /** A deletion has the screen ask everything anew. */
  const [deletions, setDeletions] = useState(0);
  const active = visible && worker.status === 'running';

  const config = useResource(gateway.config, active, configMs);
  // A gateway that cannot say how it is configured answers nothing else either: one message says so.
  const fault = config.error ?? (config.value?.problem ? newConfigRefused(config.value.problem) : null);
  const asksMore = active && config.error === null;
  const peers = useResource(gateway.peers, asksMore, refreshMs);
  const cache = useResource(gateway.cache, asksMore);
  const names = useMemo(() => new Map(Object.entries(config.value?.names ?? {})), [config.value]);
  const move = useLibraryMove(asksMore, config.value);
  useScreenChange(route.screen);
  useScrollMemory(route);
  useAppearance(worker.status === 'running');
  useSettingsOfSites(asksMore, config.value);

  useEffect(() => {
    // The button that had the focus is gone.
    if (deletions > 0) document.querySelector<HTMLElement>('main h1')?.focus();
  }, [deletions]);

  function afterDeletion() {
    config.refresh();
    setDeletions(deletions + 1);
  }

  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: a skip link is one; the fragment is taken by the screens */}
      <a class="skip-link" href="#main" onClick={skipToMain}>
        {texts.nav.skip}
      </a>
      <header class="page-header">
        <ScreenLink to="open" class="brand">
          <Logo />
          {texts.appName}
        </ScreenLink>
        <WorkerStatusLine
          status={worker.status}
          online={online}
          fault={fault}
          peers={peers.value}
          isKept={cache.value?.available ?? true}
        />
      </header>
      <InstallNotice active={asksMore} />
      {worker.update && <UpdateNotice update={worker.update} />}
      {move && route.screen !== 'settings' && <MoveNotice offer={move} onDeleted={afterDeletion} />}
      {fault && (
        <p class="banner banner-problem" role="alert">
          <span>
            <ProblemText problem={fault} />
          </span>
        </p>
      )}
      <Navigation current={route.screen} />
      <main key={deletions} id="main" class={`screen screen-${route.screen}`} tabIndex={-1}>
        {worker.problem ? (
          <BootProblem problem={worker.problem} />
        ) : (
          <>
            {route.screen === 'open' && (
              <OpenScreen
                route={route}
                names={names}
                active={asksMore}
                isReady={asksMore && config.value !== null}
              />
            )}
            {route.screen === 'library' && <LibraryScreen active={asksMore} />}
            {route.screen === 'live' && <LiveScreen active={asksMore} peers={peers} />}
            {route.screen === 'publish' && <PublishScreen config={config.value} />}
            {route.screen === 'settings' && (
              <SettingsScreen
                active={asksMore}
                config={config}
                names={names}
                move={move}
                onLanguage={onLanguage}
              />
            )}
          </>
        )}
      </main>
    </>
  );
}

/**
 * Tells the worker what was chosen: it makes pages, too. Another language makes this component anew; another theme tells
 * it by itself.
 */
function useAppearance(isRunning: boolean): void {
  useEffect(() => {
    if (isRunning) void tellAppearance();
  }, [isRunning]);
}

/** How long a change waits for the next one before the origins of sites are told, in milliseconds. */
const settleMs = 500;
/** When what failed is tried again: first after so long, in milliseconds, then after twice as long, so many times. */
const firstRetryMs = 5_000;
const mostRetries = 6;

/**
 * Gives the origins of sites the user's settings, each time these change or a site gets an origin, and moves pinned sites
 * there.
 */
function useSettingsOfSites(active: boolean, config: GatewayConfig | null): void {
  const settings = config && JSON.stringify(config);
  const synchronisedSettings = useRef<string | null>(null);
  useEffect(() => {
    if (!active || !settings) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let retryTimer: ReturnType<typeof setTimeout> | undefined;
    let retries = 0;
    let running = Promise.resolve();
    const synchronise = (isBackground: boolean) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        running = running
          .then(() => ownOrigins.synchronise({ signal: stop.signal, isBackground }))
          .then((isDone) => {
            clearTimeout(retryTimer);
            if (isDone || retries === mostRetries || stop.signal.aborted) return;
            retryTimer = setTimeout(synchronise, firstRetryMs * 2 ** retries++, true);
          })
          .catch((error) => {
            if (!stop.signal.aborted) console.warn('antway: the origins of sites are not up to date', error);
          });
      }, settleMs);
    };
    // Changed settings must arrive, also where an origin did not answer just now.
    const isChange = synchronisedSettings.current !== settings;
    synchronisedSettings.current = settings;
    synchronise(!isChange);
    const stopListening = onWorkerMessage(({ type }) => {
      if (type === 'visits') synchronise(true);
    });
    return () => {
      stopListening();
      clearTimeout(timer);
      clearTimeout(retryTimer);
      stop.abort();
    };
  }, [active, settings]);
}

/** Tells people who do not see the page that it is another one: by its title, and by the focus on its heading. */
function useScreenChange(screen: Screen): void {
  const last = useRef(screen);
  useEffect(() => {
    document.title = screen === 'open' ? texts.appName : `${texts.nav[screen]} · ${texts.appName}`;
    if (last.current === screen) return;
    last.current = screen;
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  });
}

/** The fragment of the URL is the screen, so a link to a part of it would lead away. */
function skipToMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function newConfigRefused(problem: string): GatewayApiError {
  return new GatewayApiError('BAD_CONFIG', problem, { lead: texts.status.configRefused });
}
