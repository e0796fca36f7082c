import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { SettingsState } from './use-settings.ts';

/** Whether this browser may connect to nodes of the network. */
export function NodesSection({ settings: { own, change } }: { settings: SettingsState }) {
  const t = texts.settings.nodes;
  return (
    <Section id="nodes" title={t.title}>
      <label class="check">
        <input
          type="checkbox"
          aria-describedby="nodes-note"
          // Only the user decides this, never the server config.
          checked={own.useNodes ?? false}
          // Without the key, a backup or another browser decides nothing.
          onChange={({ currentTarget }) => change({ useNodes: currentTarget.checked || undefined })}
        />
        <span>{t.use}</span>
      </label>
      <p class="note" id="nodes-note">
        {t.note}
      </p>
    </Section>
  );
}
