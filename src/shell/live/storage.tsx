import type { ComponentChildren } from 'preact';
import type { SiteOrigin } from '../../gateway/state/site-origins.ts';
import type { ListedPin } from '../../library/pin-state.ts';
import { formatBytes, formatChunks, formatCount } from '../format.ts';
import type { CacheState, GatewayApiError, ListedSite } from '../gateway-api.ts';
import { sitePage } from '../origins/site-bridge.ts';
import { siteOriginClient } from '../origins/site-origin-client.ts';
import { Persistence, UnpersistedSites } from '../persistence.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';
import type { SiteFigures } from './use-site-figures.ts';

interface Props {
  cache: Resource<CacheState>;
  pins: Resource<ListedPin[]>;
}

/** The stored bytes on the gateway's own origin, the pinned part of them, and whether the browser may clear them. */
export function Storage({ cache: { value, error, refresh }, pins }: Props) {
  return (
    <StorageSection value={value} error={error}>
      {value && (
        <>
          <Used bytes={value.bytes} ceiling={ceilingOf(value)} count={value.count} />
          {value.quota !== null && <p class="note">{texts.live.quota(formatBytes(value.quota))}</p>}
          {pins.value && <Pinned pins={pins.value} />}
          <Persistence persisted={value.persisted} onChange={refresh} />
        </>
      )}
    </StorageSection>
  );
}

interface OfAllProps {
  cache: Resource<CacheState>;
  sites: readonly ListedSite[];
  origins: readonly SiteOrigin[];
  figures: readonly SiteFigures[];
}

/** A site that is not asked now counts with its last report. */
export function StorageOfAll({ cache: { value, error, refresh }, sites, origins, figures }: OfAllProps) {
  const atOrigins = origins
    .map(({ address, report }) => {
      const now = figures.find((each) => each.address === address)?.cache;
      return now?.bytes ?? report?.storedBytes ?? 0;
    })
    .filter((bytes) => bytes > 0);
  const bytesAtOrigins = atOrigins.reduce((sum, bytes) => sum + bytes, 0);
  return (
    <StorageSection value={value} error={error}>
      {value && (
        <>
          <Used bytes={value.bytes + bytesAtOrigins} ceiling={ceilingOf(value) + bytesAtOrigins} />
          <p class="note">
            {texts.live.atOwnOrigins(
              atOrigins.length,
              formatCount(atOrigins.length),
              formatBytes(bytesAtOrigins),
            )}
          </p>
          <Pinned pins={sites.map(({ pin }) => pin).filter((pin) => pin !== null)} />
          <Persistence persisted={value.persisted} isOwnOnly onChange={refresh} />
          <UnpersistedSites sites={sites} />
        </>
      )}
    </StorageSection>
  );
}

interface OfSiteProps {
  site: ListedSite;
  cache: CacheState | null;
  onChange: () => void;
}

export function SiteStorage({ site: { address, pin }, cache, onChange }: OfSiteProps) {
  return (
    <StorageSection value={cache} error={null}>
      {cache && (
        <>
          <Used bytes={cache.bytes} ceiling={ceilingOf(cache)} count={cache.count} />
          <p class="note">{pin ? texts.library.pinned : texts.live.notPinned}</p>
          <Persistence
            persisted={cache.persisted}
            ask={() => siteOriginClient.persist(address)}
            page={sitePage(address)}
            onChange={onChange}
          />
        </>
      )}
    </StorageSection>
  );
}

interface SectionProps {
  value: CacheState | null;
  error: GatewayApiError | null;
  /** Shown if the browser lets the gateway store data. */
  children: ComponentChildren;
}

function StorageSection({ value, error, children }: SectionProps) {
  return (
    <Section id="storage" title={texts.live.storage} error={error}>
      {value === null && <p class="empty">{texts.common.notKnownYet}</p>}
      {value && !value.available && <p class="empty">{texts.live.storageNone}</p>}
      {value?.available && children}
    </Section>
  );
}

function Used({ bytes, ceiling, count }: { bytes: number; ceiling: number; count?: number }) {
  return (
    <>
      <p class="storage-line">
        <span>{texts.live.ofCeiling(formatBytes(bytes), formatBytes(ceiling))}</span>
        {count !== undefined && <span class="label">{texts.live.chunksStored(formatChunks(count))}</span>}
      </p>
      <progress aria-label={texts.live.storageUsed} value={Math.min(bytes, ceiling)} max={ceiling} />
    </>
  );
}

/** The limit for stored chunks: the gateway's own limit or the remaining quota of this origin, whichever is smaller. */
function ceilingOf({ maxBytes, quota, usage, bytes }: CacheState): number {
  if (quota === null) return maxBytes;
  const otherBytes = Math.max(0, (usage ?? 0) - bytes);
  return Math.max(1, Math.min(maxBytes, quota - otherBytes));
}

function Pinned({ pins }: { pins: readonly Pick<ListedPin, 'bytes'>[] }) {
  const bytes = pins.reduce((sum, pin) => sum + pin.bytes.stored, 0);
  return <p class="note">{texts.live.pinned(pins.length, formatCount(pins.length), formatBytes(bytes))}</p>;
}
