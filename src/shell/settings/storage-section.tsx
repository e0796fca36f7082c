import { useState } from 'preact/hooks';
import type { CacheState } from '../gateway-api.ts';
import { Persistence } from '../persistence.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';
import type { SettingsState } from './use-settings.ts';

const gigabyte = 1e9;

interface Props {
  settings: SettingsState;
  cache: Resource<CacheState>;
}

/** How much may be kept, and whether the browser keeps it. */
export function StorageSection({ settings: { own, config, change }, cache }: Props) {
  const [text, setText] = useState<string | null>(null);
  const [isBad, setBad] = useState(false);
  const t = texts.settings;
  const shown = text ?? String(Math.round((config.cache.maxBytes / gigabyte) * 100) / 100);

  function save() {
    const maxBytes = Math.round(Number(shown.replace(',', '.')) * gigabyte);
    if (!(maxBytes > 0)) {
      setBad(true);
      document.getElementById('ceiling')?.focus();
      return;
    }
    change({ cache: { ...own.cache, maxBytes } }).then(() => setText(null));
  }

  return (
    <Section id="storage" title={t.storage} error={cache.error}>
      <form
        class="add-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <label class="field">
          <span class="field-label">
            {t.ceiling} ({t.ceilingUnit})
          </span>
          <input
            id="ceiling"
            class="input"
            type="text"
            inputMode="decimal"
            value={shown}
            aria-invalid={isBad}
            aria-describedby="ceiling-note"
            onInput={({ currentTarget }) => {
              setText(currentTarget.value);
              setBad(false);
            }}
          />
        </label>
        <button type="submit" class="button button-quiet">
          {texts.common.save}
        </button>
      </form>
      <p id="ceiling-note" class={isBad ? 'note note-problem' : 'note'}>
        {isBad ? t.ceilingBad : t.ceilingNote}
      </p>
      {cache.value && <Persistence persisted={cache.value.persisted} onChange={cache.refresh} />}
    </Section>
  );
}
