import { useState } from 'preact/hooks';
import { formatBytes } from '../format.ts';
import type { CacheState } from '../gateway-api.ts';
import { Persistence } from '../persistence.tsx';
import { Section } from '../section.tsx';
import { TextForm } from '../text-form.tsx';
import { locale, texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';
import type { SettingsState } from './use-settings.ts';

const gigabyte = 1e9;
/** The field shows two digits after the decimal point. */
const leastBytes = gigabyte / 100;

interface Props {
  settings: SettingsState;
  cache: Resource<CacheState>;
}

export function StorageSection({ settings: { own, config, change }, cache }: Props) {
  const t = texts.settings;
  const [isSaved, setSaved] = useState(false);
  const quota = cache.value?.quota ?? null;
  const maxBytes = own.cache?.maxBytes ?? config.cache.maxBytes;
  return (
    <Section id="storage" title={t.storage} error={cache.error}>
      <TextForm
        fields={[
          {
            id: 'ceiling',
            label: `${t.ceiling} (${t.ceilingUnit})`,
            initial: decimal(maxBytes),
            inputMode: 'decimal',
            problemOf: (text) => (bytesOf(text) >= leastBytes ? null : t.ceilingBad(decimal(leastBytes))),
          },
        ]}
        submit={texts.common.save}
        note={t.ceilingNote}
        onProblem={() => setSaved(false)}
        onSubmit={async (text) => {
          setSaved(false);
          setSaved(await change({ cache: { ...own.cache, maxBytes: bytesOf(text) } }));
        }}
      />
      {/* The screen announces it to screen readers. */}
      {isSaved && (
        <p class="note" aria-hidden="true">
          {t.saved}
        </p>
      )}
      {quota !== null && maxBytes > quota && <p class="note">{t.ceilingAboveQuota(formatBytes(quota))}</p>}
      {cache.value && <Persistence persisted={cache.value.persisted} onChange={cache.refresh} />}
    </Section>
  );
}

/** Gigabytes, as the field takes them. */
function decimal(bytes: number): string {
  return (bytes / gigabyte).toLocaleString(locale, { maximumFractionDigits: 2, useGrouping: false });
}

/** @param text gigabytes, with a decimal point or comma. @returns NaN if the text is not such a number. */
function bytesOf(text: string): number {
  if (!/^\d+([.,]\d+)?$/.test(text)) return Number.NaN;
  return Math.round(Number(text.replace(',', '.')) * gigabyte);
}
