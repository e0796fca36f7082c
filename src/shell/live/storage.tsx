import { formatBytes, formatChunks } from '../format.ts';
import type { CacheState } from '../gateway-api.ts';
import { Persistence } from '../persistence.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';

/** How much is kept in this browser, and whether the browser may clear it. */
export function Storage({ cache }: { cache: Resource<CacheState> }) {
  const { value } = cache;
  return (
    <Section id="storage" title={texts.live.storage} error={cache.error}>
      {value === null && <p class="empty">{texts.common.notKnownYet}</p>}
      {value && !value.available && <p class="empty">{texts.live.storageNone}</p>}
      {value?.available && (
        <>
          <p class="storage-line">
            <span>{texts.live.ofCeiling(formatBytes(value.bytes), formatBytes(ceilingOf(value)))}</span>
            <span class="label">{texts.live.chunksStored(formatChunks(value.count))}</span>
          </p>
          <progress
            aria-label={texts.live.storageUsed}
            value={Math.min(value.bytes, ceilingOf(value))}
            max={ceilingOf(value)}
          />
          {value.quota !== null && <p class="note">{texts.live.quota(formatBytes(value.quota))}</p>}
          <Persistence persisted={value.persisted} onChange={cache.refresh} />
        </>
      )}
    </Section>
  );
}

/** The gateway keeps to its own ceiling, and the browser to its quota for all of this site. */
function ceilingOf({ maxBytes, quota, usage, bytes }: CacheState): number {
  if (quota === null) return maxBytes;
  const otherBytes = Math.max(0, (usage ?? 0) - bytes);
  return Math.max(1, Math.min(maxBytes, quota - otherBytes));
}
