import { formatBytes, formatChunks, formatCount } from '../format.ts';
import type { CacheState, ListedPin } from '../gateway-api.ts';
import { Persistence } from '../persistence.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';

interface Props {
  cache: Resource<CacheState>;
  pins: Resource<ListedPin[]>;
}

/** How much is kept in this browser, how much of it for good, and whether the browser may clear it. */
export function Storage({ cache, pins }: Props) {
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
          {pins.value && <Pinned pins={pins.value} />}
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

function Pinned({ pins }: { pins: readonly ListedPin[] }) {
  const bytes = pins.reduce((sum, pin) => sum + pin.bytes.stored, 0);
  return <p class="note">{texts.live.pinned(pins.length, formatCount(pins.length), formatBytes(bytes))}</p>;
}
