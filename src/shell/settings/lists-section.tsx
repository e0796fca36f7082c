import { Section } from '../section.tsx';
import { TextForm } from '../text-form.tsx';
import { texts } from '../texts/texts.ts';
import { addressIn } from './address-in.ts';
import { ListRow } from './list-row.tsx';
import type { SettingsState } from './use-settings.ts';

/** Lists of sites for the start page: the host's lists, which the user cannot remove, and the user's own lists. */
export function ListsSection({ settings: { own, config, change } }: { settings: SettingsState }) {
  const t = texts.settings.lists;
  const lists = own.lists ?? {};

  return (
    <Section id="lists" title={t.title}>
      <p class="note">{t.note}</p>
      <ul class="setting-list">
        {Object.entries(config.lists).map(([title, address]) => (
          <ListRow
            key={title}
            name={title}
            address={address}
            isOwn={config.sources.lists[title] === 'user'}
            removeLabel={t.remove(title)}
            onRemove={() => {
              const { [title]: _, ...others } = lists;
              change({ lists: others });
              document.getElementById('lists-heading')?.focus();
            }}
          />
        ))}
      </ul>
      <TextForm
        fields={[
          { id: 'new-list-title', label: t.listTitle, problemOf: problemOfTitle },
          {
            id: 'new-list-address',
            label: t.address,
            isMono: true,
            problemOf: (text) => (addressIn(text) ? null : texts.settings.addressBad),
          },
        ]}
        submit={texts.settings.add}
        submitLabel={t.add}
        onSubmit={(title, text) => change({ lists: { ...lists, [title]: addressIn(text)!.hex } })}
      />
    </Section>
  );
}

/** The worker checks the characters too. */
function problemOfTitle(title: string): string | null {
  return title !== '' && title.length <= 60 ? null : texts.settings.lists.titleBad;
}
