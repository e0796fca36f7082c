import { useState } from 'preact/hooks';
import { Address } from '../../address.ts';
import { shortAddress } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { SettingsState } from './use-settings.ts';

const namePattern = /^[a-z0-9][a-z0-9._-]{0,99}$/i;

/** Short ways to addresses: the host's, and the person's own. */
export function NamesSection({ settings: { own, config, change } }: { settings: SettingsState }) {
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const [problem, setProblem] = useState<'name' | 'address' | null>(null);
  const t = texts.settings;
  const names = own.names ?? {};

  function add() {
    const wrong =
      !namePattern.test(name.trim()) || Address.isHex(name.trim())
        ? 'name'
        : Address.isHex(address.trim())
          ? null
          : 'address';
    setProblem(wrong);
    if (wrong) {
      document.getElementById(wrong === 'name' ? 'new-name' : 'new-address')?.focus();
      return;
    }
    change({ names: { ...names, [name.trim()]: address.trim().toLowerCase() } });
    setName('');
    setAddress('');
  }

  return (
    <Section id="names" title={t.names}>
      <p class="note">{t.namesNote}</p>
      <ul class="setting-list">
        {Object.entries(config.names).map(([each, to]) => {
          const isOwn = config.sources.names[each] === 'person';
          return (
            <li key={each}>
              <span class="setting-name">
                <a href={`/${each}/`}>{each}</a>{' '}
                <span class="address label" title={to}>
                  {shortAddress(to)}
                </span>
              </span>
              <span class="setting-actions">
                {isOwn ? (
                  <button
                    type="button"
                    class="icon-button"
                    aria-label={t.removeName(each)}
                    onClick={() => {
                      const { [each]: _, ...others } = names;
                      change({ names: others });
                      document.getElementById('names-heading')?.focus();
                    }}
                  >
                    <Icon name="close" size={18} />
                  </button>
                ) : (
                  <span class="label">{t.ofHost}</span>
                )}
              </span>
            </li>
          );
        })}
      </ul>
      <form
        class="add-form add-name"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <TextField id="new-name" label={t.name} value={name} isBad={problem === 'name'} onInput={setName} />
        <TextField
          id="new-address"
          label={t.address}
          value={address}
          isBad={problem === 'address'}
          onInput={setAddress}
        />
        <button type="submit" class="button button-quiet" aria-label={t.addName}>
          {t.add}
        </button>
      </form>
      <p class="note note-problem" role="alert">
        {problem === 'name' && t.nameBad}
        {problem === 'address' && t.addressBad}
      </p>
    </Section>
  );
}

/** Addresses that are never opened: the host's, which stay, and the person's own. */
export function DeniedSection({ settings: { own, config, change } }: { settings: SettingsState }) {
  const [address, setAddress] = useState('');
  const [isBad, setBad] = useState(false);
  const t = texts.settings;
  const denied = own.denied ?? [];

  function add() {
    const text = address.trim().toLowerCase();
    if (!Address.isHex(text)) {
      setBad(true);
      document.getElementById('deny')?.focus();
      return;
    }
    if (!denied.includes(text)) change({ denied: [...denied, text] });
    setAddress('');
  }

  return (
    <Section id="denied" title={t.denied}>
      <p class="note">{t.deniedNote}</p>
      <ul class="setting-list">
        {config.denied.map((each) => (
          <li key={each}>
            <span class="setting-name address">{shortAddress(each)}</span>
            <span class="setting-actions">
              {denied.includes(each) ? (
                <button
                  type="button"
                  class="button button-quiet button-small"
                  aria-label={t.allowOf(shortAddress(each))}
                  onClick={() => {
                    change({ denied: denied.filter((other) => other !== each) });
                    document.getElementById('denied-heading')?.focus();
                  }}
                >
                  {t.allow}
                </button>
              ) : (
                <span class="label">{t.ofHost}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
      <form
        class="add-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <TextField
          id="deny"
          label={t.denyAddress}
          value={address}
          isBad={isBad}
          onInput={(value) => {
            setAddress(value);
            setBad(false);
          }}
        />
        <button type="submit" class="button button-quiet">
          {t.deny}
        </button>
      </form>
      <p class="note note-problem" role="alert">
        {isBad && t.addressBad}
      </p>
    </Section>
  );
}

interface FieldProps {
  id: string;
  label: string;
  value: string;
  isBad: boolean;
  onInput: (value: string) => void;
}

function TextField({ id, label, value, isBad, onInput }: FieldProps) {
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <input
        id={id}
        class="input input-mono"
        type="text"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={value}
        aria-invalid={isBad}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  );
}
