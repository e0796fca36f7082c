import { useEffect, useRef, useState } from 'preact/hooks';
import { written } from '../../names/name-book.ts';
import { Button } from '../button.tsx';
import { openInPlace } from '../content-link.tsx';
import { decodePath } from '../format.ts';
import { gateway, type ListedSite } from '../gateway-api.ts';
import { useNames } from '../names/names-store.ts';
import { siteOriginClient } from '../origins/site-origin-client.ts';
import type { ViewRoute } from '../route.ts';
import { sanitizeLine } from '../sanitize-line.ts';
import { addressOfPath } from '../site-href.ts';
import { placeOf, titleOf } from '../site-title.ts';
import { texts } from '../texts/texts.ts';
import { viewerTexts } from '../texts/viewer.ts';
import { useAction } from '../use-action.ts';
import { useSites } from '../use-sites.ts';
import { BlockedLink } from './blocked-link.tsx';
import { type Panel, SiteBar } from './site-bar.tsx';
import { SitePanel } from './site-panel.tsx';
import { useBlockedLink } from './use-blocked-link.ts';
import { useView } from './use-view.ts';
import './viewer.css';

/** How often the stored share of the site is updated, in milliseconds. */
const sitesMs = 15_000;
const longMs = 8_000;

interface Props {
  route: ViewRoute;
  /** Whether the gateway runs. */
  active: boolean;
  /** Whether a hard reload has loaded this page without the worker. */
  isBypassed: boolean;
}

/** Shows content in a frame, below a bar with the content's title and state. */
export default function Viewer({ route, active, isBypassed }: Props) {
  const t = viewerTexts();
  const frame = useRef<HTMLIFrameElement>(null);
  const { state, loaded, reopen } = useView(route, active, isBypassed, frame);
  const sites = useSites(active, sitesMs);
  const [panel, setPanel] = useState<Panel | null>(null);
  const [mayFullscreen, setFullscreen] = useState(false);
  const { error, announcement, run } = useAction(sites.refresh);
  const view = state.step === 'shown' ? state.view : null;
  const root = view?.root ?? /^\/[^/?#]*/.exec(route.view)![0];
  const address = view?.address ?? (state.step === 'saved' ? state.address : null);
  const site = sites.value?.find((site) => isAt(site, root, address)) ?? null;
  const isKnown = view?.isKnown ?? true;
  const blocked = useBlockedLink(view?.key ?? null);
  // Security: only covers whose text names the shown content. A cover for an unknown page does not count.
  const isCovered = state.step === 'saved' || blocked !== null || (!isKnown && view?.pdf !== null);
  const ownName = useNames().book.namesOf(addressOfPath({ path: root, address: address ?? '' }))[0];
  const place = ownName ? written(ownName) : placeOf({ path: `${root}/` });
  // A blocked link opens no page.
  const title =
    isKnown || blocked
      ? view?.page?.title || (site && titleOf(site)) || place
      : view?.pdf
        ? nameIn(view.pdf)
        : t.unknownTitle;

  useEffect(() => {
    document.title = `${title} · ${texts.appName}`;
  }, [title]);
  // The permission is for one site.
  useEffect(() => {
    setFullscreen(false);
    setPanel(null);
  }, [root]);
  useReports(view?.isOwnOrigin ? view.address : null, sites.refresh);
  useEscape(panel !== null, () => setPanel(null));

  async function pin() {
    if (!site) return;
    const at = site.hasOwnOrigin ? siteOriginClient : gateway;
    if (site.pin) await run(() => at.unpin(site.address), t.didUnpin);
    else
      await run(async () => {
        await at.pin(site.address, 'pin');
        await navigator.storage?.persist?.();
      }, t.didPin);
  }

  async function setScripts(runs: boolean) {
    if (!address) return;
    if (view && !view.isOwnOrigin && runs && !site?.hasOwnOrigin) {
      // The question of the gateway's own page decides. It does not ask again after a decision.
      await gateway.revokeDecision(address).catch(() => undefined);
      return openInPlace(view.path);
    }
    const target = site ?? { address, hasOwnOrigin: view?.isOwnOrigin ?? false };
    await run(() => siteOriginClient.setScripts(target as ListedSite, runs), '');
    reopen();
  }

  return (
    <div class="viewer">
      <SiteBar
        title={title}
        place={place}
        icon={isKnown || blocked ? (site?.icon ?? null) : null}
        view={view}
        isCovered={isCovered}
        path={view?.path ?? route.view}
        isPinned={site ? site.pin !== null : null}
        panel={panel}
        onPanel={setPanel}
        onPin={pin}
      />
      {panel && !(panel === 'details' && isCovered) && (
        <SitePanel
          panel={panel}
          title={title}
          root={root}
          address={address}
          view={view}
          site={site}
          path={view?.path ?? route.view}
          mayFullscreen={mayFullscreen}
          onFullscreen={() => {
            setFullscreen(true);
            reopen();
          }}
          onScripts={setScripts}
          onClose={() => setPanel(null)}
        />
      )}
      <p class={error ? 'viewer-note note-problem' : 'visually-hidden'} role="status">
        {error ? error.message : announcement}
      </p>
      {view?.hasScripts && !view.isOwnOrigin && !view.isWithoutScripts && (
        <aside class="viewer-note" aria-label={t.scripts}>
          {t.scriptsBlocked}{' '}
          <Button look="link" onClick={() => setScripts(true)}>
            {t.trustScripts}
          </Button>
        </aside>
      )}
      <main id="main" class="viewer-content" tabIndex={-1}>
        {state.step === 'opening' && <Opening />}
        {state.step === 'saved' && (
          <div class="viewer-message">
            <h2>{t.savedTitle}</h2>
            <p class="note">{t.savedNote}</p>
            <p class="actions">
              <a class="button" href={state.path} referrerPolicy="same-origin">
                {t.save}
              </a>
            </p>
          </div>
        )}
        {view && (
          <iframe
            key={view.key}
            ref={frame}
            class="viewer-frame"
            title={t.frame(title)}
            src={view.src}
            sandbox={view.sandbox}
            // The worker of the site's origin refuses frames of all other pages.
            referrerPolicy="origin"
            // Security: a page of the shared origin has this permission by default, and could cover the bar.
            allow={mayFullscreen ? "fullscreen 'src'" : "fullscreen 'none'"}
            onLoad={loaded}
          />
        )}
        {!isKnown && !blocked && (
          <div class="viewer-message viewer-cover">
            <h2>{view?.pdf ? t.pdfTitle : t.unknownTitle}</h2>
            <p class="note">{view?.pdf ? t.pdfNote : t.unknownNote}</p>
            <p class="actions">
              {view?.pdf && (
                <a class="button" href={view.pdf} target="_blank" rel="noopener">
                  {t.openTab}
                </a>
              )}
              <Button look={view?.pdf ? 'quiet' : 'main'} onClick={reopen}>
                {t.backToSite}
              </Button>
            </p>
          </div>
        )}
        {blocked && <BlockedLink blocked={blocked} onBack={reopen} />}
      </main>
    </div>
  );
}

/** The name of a file of a stranger. */
function nameIn(path: string): string {
  return sanitizeLine(decodePath(path.replace(/^.*\/|[?].*$/gs, '')));
}

/** A pointer's entry in the library has the address of its target, and the path of the pointer. */
function isAt(site: ListedSite, root: string, address: string | null): boolean {
  return site.address === address || site.path.replace(/\/$/, '') === root;
}

function Opening() {
  const t = viewerTexts();
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(setLong, longMs, true);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="viewer-message opening" role="status">
      <h2>{t.opening}</h2>
      <div class="opening-bar" aria-hidden="true" />
      {isLong && <p class="note">{t.openingLong}</p>}
    </div>
  );
}

/** The gateway's worker learns from reports what a site's own origin stores. */
function useReports(address: string | null, refresh: () => void): void {
  useEffect(() => {
    if (!address) return;
    const report = () => void siteOriginClient.refresh(address).then(refresh, () => undefined);
    const timers = [setTimeout(report, 2_000), setInterval(report, sitesMs)];
    return () => timers.forEach(clearInterval);
  }, [address]);
}

function useEscape(isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return;
    const opener = document.activeElement;
    const pressed = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      close();
      if (opener instanceof HTMLElement) opener.focus();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, [isOpen]);
}
