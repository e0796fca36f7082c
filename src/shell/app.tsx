import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { BootProblem } from './boot-problem.tsx';
import { ConnectionStatus } from './connection/connection-status.tsx';
import { GatewayApiError, type GatewayConfig, gateway, onWorkerMessage } from './gateway-api.ts';
import { useScrollMemory } from './history-state.ts';
import { InstallNotice } from './install-notice.tsx';
import { lazyComponent } from './lazy-component.tsx';
import { LibraryScreen } from './library/library-screen.tsx';
import { LiveScreen } from './live/live-screen.tsx';
import { Logo } from './logo.tsx';
import { MoveNotice } from './move/move-notice.tsx';
import { useLibraryMove } from './move/use-library-move.ts';
import { useNames, useNamesOf } from './names/names-store.ts';
import { Navigation } from './navigation.tsx';
import { useNodes } from './nodes/use-nodes.ts';
import { useOnline, useVisible } from './observable.ts';
import { OpenScreen } from './open/open-screen.tsx';
import { useSearchShortcut } from './open/search-shortcut.ts';
import { siteOriginClient } from './origins/site-origin-client.ts';
import { tellAppearance } from './preferences.ts';
import { ProblemText } from './problem-text.tsx';
import { PublishScreen } from './publish/publish-screen.tsx';
import { LazyReader } from './readers/lazy-reader.tsx';
import { type Screen, useRoute, type ViewRoute } from './route.ts';
import { ScreenLink } from './screen-link.tsx';
import { SettingsScreen } from './settings/settings-screen.tsx';
import { texts } from './texts/texts.ts';
import { UpdateNotice } from './update-notice.tsx';
import { useResource } from './use-resource.ts';
import { useWorker } from './use-worker.ts';

const Viewer = lazyComponent(() => import('./viewer/viewer.tsx'));

const refreshMs = 5_000;
/** The server config changes rarely. Poll it anyway, so that the screen notices when a broken config is repaired. */
const configMs = 15_000;

/** The frame around all screens. It loads the data that several screens share. */
export function App({ onLanguage }: { onLanguage: () => void }) {
  const route = useRoute();
  const visible = useVisible();
  const online = useOnline();
  const worker = useWorker();
  const [deletions, setDeletions] = useState(0);
  const active = visible && worker.status === 'running';

  const config = useResource(gateway.config, active, configMs);
  // A gateway with a config error answers no other request. Show this one error only.
  const fault = config.error
    ? withLead(config.error)
    : config.value?.problem
      ? newConfigRefused(config.value.problem)
      : null;
  const asksMore = active && config.error === null;
  const sources = useResource(gateway.sources, asksMore, refreshMs);
  const peers = { ...sources, value: sources.value?.peers ?? null };
  const cache = useResource(gateway.cache, asksMore);
  const hostNames = useMemo(() => new Map(Object.entries(config.value?.names ?? {})), [config.value]);
  useNamesOf(asksMore, config.value);
  const names = useNames();
  const move = useLibraryMove(asksMore, config.value);
  const checkPeers = () =>
    gateway
      .checkPeers()
      .catch(() => undefined)
      .then(peers.refresh);
  useChangeOf(online, checkPeers);
  useChangeOf(config.value && `${config.value.useNodes} ${config.value.peers.join(' ')}`, peers.refresh);
  useSearchShortcut();
  const isViewing = route.view !== undefined && !worker.problem && !fault;
  useScreenChange(route.reader === undefined ? route.screen : 'reader', isViewing);
  useScrollMemory(route);
  useAppearance(worker.status === 'running');
  useSettingsOfSites(asksMore, config.value);
  useNodes(worker.status === 'running', config.value);

  useEffect(() => {
    // The deletion has removed the focused button.
    if (deletions > 0) document.querySelector<HTMLElement>('main h1')?.focus();
  }, [deletions]);

  function afterDeletion() {
    config.refresh();
    setDeletions(deletions + 1);
  }

  if (isViewing) {
    const isActive = asksMore && config.value !== null;
    const isBypassed = worker.status === 'bypassed';
    return <Viewer route={route as ViewRoute} active={isActive} isBypassed={isBypassed} />;
  }
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: a skip link is an anchor; the fragment already selects the screen */}
      <a class="skip-link" href="#main" onClick={skipToMain}>
        {texts.nav.skip}
      </a>
      <header class="page-header">
        <ScreenLink to="open" class="brand">
          <Logo />
          {texts.appName}
        </ScreenLink>
        <ConnectionStatus
          status={worker.status}
          online={online}
          fault={fault}
          peers={peers.value}
          nodes={sources.value?.nodes ?? null}
          isStored={cache.value?.available ?? true}
          onCheck={checkPeers}
        />
      </header>
      {worker.update && <UpdateNotice update={worker.update} />}
      {fault && (
        <p class="banner banner-problem" role="alert">
          <span>
            <ProblemText problem={fault} />
          </span>
        </p>
      )}
      <Navigation current={route.reader === undefined ? route.screen : null} />
      <main
        key={deletions}
        id="main"
        class={`screen screen-${route.reader === undefined ? route.screen : 'reader'}`}
        tabIndex={-1}
      >
        {worker.problem ? (
          <BootProblem problem={worker.problem} />
        ) : route.reader !== undefined ? (
          <LazyReader
            fragment={route.reader}
            names={hostNames}
            active={asksMore}
            isReady={asksMore && config.value !== null}
            isElsewhere={config.value?.isolation === 'subdomain'}
          />
        ) : (
          <>
            {route.screen === 'open' && (
              <OpenScreen
                route={route}
                names={names}
                config={config.value}
                active={asksMore}
                isReady={asksMore && config.value !== null && names.isComplete}
              />
            )}
            {route.screen === 'library' && <LibraryScreen active={asksMore} config={config.value} />}
            {route.screen === 'live' && <LiveScreen active={asksMore} peers={peers} />}
            {route.screen === 'publish' && <PublishScreen config={config.value} />}
            {route.screen === 'settings' && (
              <SettingsScreen
                active={asksMore}
                config={config}
                names={names.book}
                move={move}
                suggestion={route.peer}
                onLanguage={onLanguage}
              />
            )}
          </>
        )}
      </main>
      {/* Offers arrive late, and must not move the screen. */}
      <InstallNotice active={asksMore} />
      {move && route.screen !== 'settings' && <MoveNotice offer={move} onDeleted={afterDeletion} />}
    </>
  );
}

/** A change of the language mounts this component anew. A change of the theme calls `tellAppearance` itself. */
function useAppearance(isRunning: boolean): void {
  useEffect(() => {
    if (isRunning) void tellAppearance();
  }, [isRunning]);
}

/** Calls `react` when a value differs from the last known one. */
function useChangeOf<T>(value: T | null | undefined, react: () => void): void {
  const last = useRef(value);
  useEffect(() => {
    const isChange = value != null && last.current != null && value !== last.current;
    last.current = value ?? last.current;
    if (isChange) react();
  }, [value]);
}

/** How long a change waits for the next change before the origins of sites are updated, in milliseconds. */
const settleMs = 500;
/** The delay of the first retry after a failure, in milliseconds. Each further retry waits twice as long. */
const firstRetryMs = 5_000;
const mostRetries = 6;

/** Sends changed settings to the origins of sites, and the settings to new origins. Copies pinned sites there. */
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
          .then(() => siteOriginClient.synchronise({ signal: stop.signal, isBackground }))
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
    // Changed settings must reach each origin, also an origin that has just failed to answer.
    const isChange = synchronisedSettings.current !== settings;
    synchronisedSettings.current = settings;
    synchronise(!isChange);
    const stopListening = onWorkerMessage(({ type }) => {
      if (type !== 'visits') return;
      retries = 0;
      synchronise(true);
    });
    return () => {
      stopListening();
      clearTimeout(timer);
      clearTimeout(retryTimer);
      stop.abort();
    };
  }, [active, settings]);
}

/** Announces the change of the screen to users who do not see it: by the title, and by the focus on the heading. */
function useScreenChange(screen: Screen | 'reader', isViewing: boolean): void {
  const last = useRef(screen);
  useEffect(() => {
    // The viewer has the title of its content.
    if (isViewing) return;
    // Readers load later, and announce their own title.
    if (screen !== 'reader')
      document.title = screen === 'open' ? texts.appName : `${texts.nav[screen]} · ${texts.appName}`;
    if (last.current === screen) return;
    last.current = screen;
    if (screen === 'reader') return;
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  });
}

/** The URL's fragment selects the screen, so a normal link to a part of the page would leave the screen. */
function skipToMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

/** A new visitor does not know that a gateway has a configuration. */
function withLead(error: GatewayApiError): GatewayApiError {
  if (error.code !== 'BAD_CONFIG') return error;
  return new GatewayApiError(error.code, error.message, { lead: texts.status.configWrong });
}

function newConfigRefused(problem: string): GatewayApiError {
  return new GatewayApiError('BAD_CONFIG', problem, { lead: texts.status.configRefused });
}
