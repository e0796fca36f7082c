import type { CacheState } from '../gateway-api.ts';
import { Persistence } from '../persistence.tsx';
import { Section } from '../section.tsx';
import { TextForm } from '../text-form.tsx';
import { locale, texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';
import type { SettingsState } from './use-settings.ts';

const gigabyte = 1e9;

interface Props {
  settings: SettingsState;
  cache: Resource<CacheState>;
}

export function StorageSection({ settings: { own, config, change }, cache }: Props) {
  const t = texts.settings;
  const maxBytes = own.cache?.maxBytes ?? config.cache.maxBytes;
  return (
    <Section id="storage" title={t.storage} error={cache.error}>
      <TextForm
        fields={[
          {
            id: 'ceiling',
            label: `${t.ceiling} (${t.ceilingUnit})`,
            initial: (maxBytes / gigabyte).toLocaleString(locale, {
              maximumFractionDigits: 2,
              useGrouping: false,
            }),
            inputMode: 'decimal',
            problemOf: (text) => (bytesOf(text) > 0 ? null : t.ceilingBad),
          },
        ]}
        submit={texts.common.save}
        note={t.ceilingNote}
        onSubmit={(text) => change({ cache: { ...own.cache, maxBytes: bytesOf(text) } })}
      />
      {cache.value && <Persistence persisted={cache.value.persisted} onChange={cache.refresh} />}
    </Section>
  );
}

/** @param text gigabytes, with a decimal point or comma. @returns NaN if the text is not a number. */
function bytesOf(text: string): number {
  return Math.round(Number(text.replace(',', '.')) * gigabyte);
}
