import { Address, shortAddress } from '../../address.ts';
import { Button } from '../button.tsx';
import { Section } from '../section.tsx';
import { TextForm } from '../text-form.tsx';
import { texts } from '../texts/texts.ts';
import type { SettingsState } from './use-settings.ts';

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

function problemOfAddress(text: string): string | null {
  return Address.isHex(text) ? null : texts.settings.addressBad;
}
