import { useState } from 'preact/hooks';
import { formatBytes, formatCount } from './format.ts';
import type { CacheState } from './gateway-api.ts';
import { Section } from './section.tsx';
import type { Resource } from './use-resource.ts';

/** How much is kept in this browser, and whether the browser may clear it. */
export function Storage({ cache }: { cache: Resource<CacheState> }) {
  const { value } = cache;
  return (
    <Section id="storage" title="Stored in this browser" error={cache.error}>
      {value === null && <p class="empty">Known as soon as the gateway runs.</p>}
      {value && !value.available && (
        <p class="empty">
          This browser lets the gateway store nothing, as in a private window. Sites open, but not offline.
        </p>
      )}
      {value?.available && (
        <>
          <p class="storage-line">
            <span>
              <strong>{formatBytes(value.bytes)}</strong> of {formatBytes(ceilingOf(value))}
            </span>
            <span class="label">{formatCount(value.count)} chunks, as peers hold them</span>
          </p>
          <progress
            aria-label="Storage used"
            value={Math.min(value.bytes, ceilingOf(value))}
            max={ceilingOf(value)}
          />
          <Protection persisted={value.persisted} onChange={cache.refresh} />
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

function Protection({ persisted, onChange }: { persisted: boolean; onChange: () => void }) {
  const [refused, setRefused] = useState(false);

  async function ask() {
    setRefused(!(await navigator.storage.persist()));
    onChange();
  }

  if (persisted) return <p class="note">The browser keeps this until you clear it.</p>;
  return (
    <p class="note">
      The browser may clear this when the disk is full.{' '}
      {refused ? (
        <span role="status">It declined to keep it for now. Installing the app often changes that.</span>
      ) : (
        <button type="button" class="link" onClick={ask}>
          Ask it to keep this
        </button>
      )}
    </p>
  );
}
