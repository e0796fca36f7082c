import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { reportUrlOf } from '../../server-config.ts';
import { Button } from '../button.tsx';
import { formatCount } from '../format.ts';
import { type GatewayConfig, gateway, type ListedSite } from '../gateway-api.ts';
import { useHistoryState } from '../history-state.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { siteOriginClient } from '../origins/site-origin-client.ts';
import { Persistence } from '../persistence.tsx';
import { ProblemText } from '../problem-text.tsx';
import { PublishedSection } from '../published/published-section.tsx';
import { saveAs } from '../save-as.ts';
import { ScreenHeading } from '../screen-heading.tsx';
import { SearchSection } from '../search/search-section.tsx';
import { titleOf } from '../site-title.ts';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import { useDrop } from '../use-drop.ts';
import { useResource } from '../use-resource.ts';
import { useSites } from '../use-sites.ts';
import { type Arrangement, arrange, type Sort } from './arrange.ts';
import { useBroughtExport } from './brought-export.ts';
import { FilterChoice } from './filter-choice.tsx';
import type { ImportedSite } from './site-exchange.ts';
import { type SiteAction, SiteRow } from './site-row.tsx';
import { useOwnOrigins } from './use-own-origins.ts';
import { usePins } from './use-pins.ts';

/** The stored share of a site changes while the site is read, mostly in this same tab. A slow refresh is enough. */
const refreshMs = 15_000;
const sorts: readonly Sort[] = ['opened', 'title', 'size'];

interface Props {
  active: boolean;
  config: GatewayConfig | null;
}

export function LibraryScreen({ active, config }: Props) {
  const reportUrl = config?.reportUrl ?? null;
  const sites = useSites(active, refreshMs);
  const cache = useResource(gateway.cache, active);
  const { pins, refresh: refreshPins } = usePins(active);
  useOwnOrigins(sites.value, active);
  const picker = useRef<HTMLInputElement>(null);
  const [arrangement, setArrangement] = useHistoryState<Arrangement>('library', {
    query: '',
    sort: 'opened',
    pinnedOnly: false,
    filter: 'all',
  });
  const isMine = arrangement.filter === 'mine';
  const { error, announcement, say, clear, run } = useAction(() => {
    sites.refresh();
    refreshPins();
    cache.refresh();
  });
  /** The last started action. Its end is announced. */
  const [begun, setBegun] = useState<{ action: 'pin' | 'verify'; address: string; title: string } | null>(
    null,
  );
  const [imported, setImported] = useState<ImportedSite | null>(null);
  const isOver = useDrop(['Files'], ({ files }) => importFile(files[0]));
  const t = texts.library;

  useEffect(() => {
    const listed = begun && all?.find(({ address }) => address === begun.address);
    const pin = begun && (listed?.hasOwnOrigin ? listed.pin : pins?.get(begun.address));
    if (pin?.activity !== 'idle') return;
    say(pin.state === 'complete' ? t.finished[begun!.action](begun!.title) : '');
    setBegun(null);
  }, [pins, sites.value]);

  // A finished pin has changed the stored chunks of its site, and of other sites with the same chunks.
  const finished = pins ? [...pins.values()].filter(({ activity }) => activity === 'idle').length : 0;
  useEffect(() => sites.refresh(), [finished, pins?.size]);

  const all = useMemo(
    () =>
      sites.value?.map((site) =>
        site.hasOwnOrigin || !pins ? site : withPin(site, pins.get(site.address) ?? null),
      ),
    [sites.value, pins],
  );
  // The note about the storage is above the rows, and would push them down if it arrived later.
  const isComplete = cache.value !== null || cache.error !== null;
  const shown = useMemo(
    () => (all && isComplete ? arrange(all, arrangement) : null),
    [all, isComplete, arrangement],
  );
  const count = t.count(shown?.length ?? 0, formatCount(shown?.length ?? 0));

  function act(action: SiteAction, site: ListedSite) {
    const title = titleOf(site);
    const { address } = site;
    const at = site.hasOwnOrigin ? siteOriginClient : gateway;
    setBegun(null);
    switch (action) {
      case 'pin':
        return run(async () => {
          await at.pin(address, action);
          // Ask now: a browser that may clear pinned data breaks the pin's promise.
          await navigator.storage?.persist?.();
          // Set this after the user's answer, which may take long: the end of the pin is then announced last.
          setBegun({ action: 'pin', address, title });
        }, t.didPin(title));
      case 'unpin':
        return run(async () => {
          await at.unpin(address);
          // The site may have been pinned on this origin before it had its own.
          if (site.hasOwnOrigin && pins?.has(address)) await gateway.unpin(address);
        }, t.didUnpin(title));
      case 'pause':
        return run(() => at.pin(address, action), t.didPause(title));
      case 'resume':
        return run(async () => {
          await at.pin(address, action);
          setBegun({ action: 'pin', address, title });
        }, t.didResume(title));
      case 'verify':
        return run(async () => {
          await at.pin(address, action);
          setBegun({ action, address, title });
        }, t.didVerify(title));
      case 'scripts':
        return run(
          () => siteOriginClient.setScripts(site, site.isWithoutScripts),
          (site.isWithoutScripts ? t.didAllowScripts : t.didForbidScripts)(title),
        );
      case 'export':
        clear();
        say(t.exporting(title));
        return run(
          async () => {
            const { exportFields } = await import('./site-exchange.ts');
            saveAs(await at.exportSite(address, await exportFields(site)), fileName(title));
          },
          t.didExport(fileName(title)),
        );
      case 'delete':
        return run(async () => {
          // A pin would prevent the deletion, so remove it first.
          if (site.hasOwnOrigin) await siteOriginClient.clear(address);
          if (site.hasOwnOrigin ? pins?.has(address) : site.pin) await gateway.unpin(address);
          await gateway.deleteSite(address);
          // The focused button disappears with its row.
          document.querySelector<HTMLElement>('main h1')?.focus();
        }, t.didDelete(title));
    }
  }

  function importFile(file: Blob | undefined) {
    if (!file) return;
    let announced = '';
    setBegun(null);
    setImported(null);
    run(
      async () => {
        const { importExport } = await import('./site-exchange.ts');
        const done = await importExport(file);
        setImported(done);
        announced = t.imported(done.title, done.count);
      },
      () => announced,
    );
  }
  useBroughtExport(active, importFile);

  return (
    <>
      <ScreenHeading title={t.title} intro={t.intro}>
        <Button look="quiet" isSmall aria-describedby="import-note" onClick={() => picker.current?.click()}>
          {t.import}
        </Button>
        <span id="import-note" class="visually-hidden">
          {t.importNote}
        </span>
        <input
          ref={picker}
          type="file"
          name="import"
          hidden
          onChange={({ currentTarget }) => {
            importFile(currentTarget.files?.[0]);
            currentTarget.value = '';
          }}
        />
      </ScreenHeading>
      <div class="library-tools">
        <input
          class="input"
          type="search"
          aria-label={t.search}
          placeholder={t.search}
          value={arrangement.query}
          onInput={({ currentTarget }) => setArrangement({ ...arrangement, query: currentTarget.value })}
        />
        <FilterChoice
          filter={arrangement.filter}
          onChange={(filter) => setArrangement({ ...arrangement, filter })}
        />
        <label class="library-sort">
          <span class="label">{t.sort}</span>
          <select
            value={arrangement.sort}
            onChange={({ currentTarget }) =>
              setArrangement({ ...arrangement, sort: currentTarget.value as Sort })
            }
          >
            {sorts.map((sort) => (
              <option key={sort} value={sort}>
                {t.sorts[sort]}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={arrangement.pinnedOnly}
            onChange={({ currentTarget }) =>
              setArrangement({ ...arrangement, pinnedOnly: currentTarget.checked })
            }
          />
          <span>{t.pinnedOnly}</span>
        </label>
      </div>
      <p class={error ? 'note note-problem' : 'note'} role="status">
        {error ? <ProblemText problem={error} /> : announcement}
      </p>
      {imported && <ImportedCard site={imported} onClose={() => setImported(null)} />}
      {isMine && <PublishedSection config={config} query={arrangement.query} />}
      {!isMine && (
        <section class="card" aria-labelledby="library-count">
          <div class="library-head">
            <h2 id="library-count" tabIndex={-1}>
              {arrangement.query ? t.inTitles(count) : count}
            </h2>
            {cache.value && all && all.length > 0 && (
              <Persistence
                persisted={cache.value.persisted}
                isOwnOnly={all?.some(({ hasOwnOrigin }) => hasOwnOrigin) ?? false}
                onChange={cache.refresh}
              />
            )}
          </div>
          {sites.error && (
            <p class="note note-problem">
              {texts.common.notUpToDate}: <ProblemText problem={sites.error} />
            </p>
          )}
          {shown && shown.length > 0 && (
            <ul>
              {shown.map((site) => (
                <SiteRow
                  key={site.address}
                  site={site}
                  // The host knows nothing of a manifest that only this device stores.
                  reportUrl={reportUrl && !site.isManifest ? reportUrlOf(reportUrl, site.address) : null}
                  onAction={act}
                  onPersist={sites.refresh}
                />
              ))}
            </ul>
          )}
          {shown?.length === 0 && (
            <p class="empty">
              {arrangement.query || arrangement.pinnedOnly
                ? t.noMatch(arrangement.query)
                : arrangement.filter === 'all'
                  ? t.empty
                  : t.noneOfFilter}
            </p>
          )}
          {!shown && !sites.error && <p class="empty">{texts.common.notKnownYet}</p>}
        </section>
      )}
      {!isMine && arrangement.query !== '' && <SearchSection query={arrangement.query} sites={all ?? null} />}
      {isOver && (
        <div class="drop-state" aria-hidden="true">
          <span>{t.drop}</span>
        </div>
      )}
    </>
  );
}

const ImportedCard = lazyComponent(() => import('./imported-card.tsx'));

/** Merges a pin into its site: the pin's figures are newer than those of the list of sites. */
function withPin(site: ListedSite, pin: ListedSite['pin']): ListedSite {
  if (!pin) return { ...site, pin };
  return {
    ...site,
    pin,
    chunks: pin.chunks,
    bytes: pin.bytes,
    offline: site.offline || pin.state === 'complete',
  };
}

function fileName(title: string): string {
  return `${title.replace(/[^\p{L}\p{N} ._-]+/gu, '-').trim() || 'site'}.antsite`;
}
