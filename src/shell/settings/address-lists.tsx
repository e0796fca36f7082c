import { Address, shortAddress } from '../../address.ts';
import { Button } from '../button.tsx';
import { Icon } from '../icons.tsx';
import { Section } from '../section.tsx';
import { TextForm } from '../text-form.tsx';
import { texts } from '../texts/texts.ts';
import { BookmarkFiles } from './bookmark-files.tsx';
import type { SettingsState } from './use-settings.ts';

export function NamesSection({
  settings,
  titles,
}: {
  settings: SettingsState;
  /** Address → title of the sites in the library. */
  titles: ReadonlyMap<string, string>;
}) {
  const { own, config, change } = settings;
  const t = texts.settings;
  const names = own.names ?? {};

  return (
    <Section id="names" title={t.names}>
      <p class="note">{t.namesNote}</p>
      <ul class="setting-list">
        {Object.entries(config.names).map(([each, to]) => {
          const isOwn = config.sources.names[each] === 'user';
          return (
            <li key={each}>
              <span class="setting-name">
                <a href={`/${each}/`}>{each}</a>{' '}
                <span class="address label" title={to}>
                  {shortAddress(to)}
                </span>{' '}
                {titles.has(to) && <bdi class="label">{titles.get(to)}</bdi>}
              </span>
              <span class="setting-actions">
                {isOwn ? (
                  <Button
                    look="icon"
                    aria-label={t.removeName(each)}
                    onClick={() => {
                      const { [each]: _, ...others } = names;
                      change({ names: others });
                      document.getElementById('names-heading')?.focus();
                    }}
                  >
                    <Icon name="close" size={18} />
                  </Button>
                ) : (
                  <span class="label">{t.ofHost}</span>
                )}
              </span>
            </li>
          );
        })}
      </ul>
      <TextForm
        fields={[
          {
            id: 'new-name',
            label: t.name,
            isMono: true,
            problemOf: (name) => (isName(name) ? null : t.nameBad),
          },
          { id: 'new-address', label: t.address, isMono: true, problemOf: problemOfAddress },
        ]}
        submit={t.add}
        submitLabel={t.addName}
        onSubmit={(name, address) => change({ names: { ...names, [name]: address.toLowerCase() } })}
      />
      <BookmarkFiles settings={settings} />
    </Section>
  );
}

/** Addresses that are never opened: the host's entries, which the user cannot remove, and the user's own entries. */
export function DeniedSection({
  settings: { own, config, change },
  titles,
}: {
  settings: SettingsState;
  /** Address → title of the sites in the library. */
  titles: ReadonlyMap<string, string>;
}) {
  const t = texts.settings;
  const denied = own.denied ?? [];

  return (
    <Section id="denied" title={t.denied}>
      <p class="note">{t.deniedNote}</p>
      <ul class="setting-list">
        {config.denied.map((each) => (
          <li key={each}>
            <span class="setting-name" title={each}>
              {titles.has(each) && (
                <>
                  <bdi>{titles.get(each)}</bdi>{' '}
                </>
              )}
              <span class={titles.has(each) ? 'address label' : 'address'}>{shortAddress(each)}</span>
            </span>
            <span class="setting-actions">
              {denied.includes(each) ? (
                <Button
                  look="quiet"
                  isSmall
                  aria-label={t.allowOf(titles.get(each) ?? shortAddress(each))}
                  onClick={() => {
                    change({ denied: denied.filter((other) => other !== each) });
                    document.getElementById('denied-heading')?.focus();
                  }}
                >
                  {t.allow}
                </Button>
              ) : (
                <span class="label">{t.ofHost}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
      <TextForm
        fields={[{ id: 'deny', label: t.denyAddress, isMono: true, problemOf: problemOfAddress }]}
        submit={t.deny}
        onSubmit={(address) => change({ denied: [...new Set([...denied, address.toLowerCase()])] })}
      />
    </Section>
  );
}

/** Whether a text is a valid name. A name that looks like an address would hide the content of that address. */
function isName(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,99}$/i.test(text) && !Address.isHex(text);
}

function problemOfAddress(text: string): string | null {
  return Address.isHex(text) ? null : texts.settings.addressBad;
}
