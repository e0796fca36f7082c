import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { SettingsState } from './use-settings.ts';

/** Whether this browser may connect to nodes of the network. */
export function NodesSection({ settings: { own, config, change } }: { settings: SettingsState }) {
  const t = texts.settings.nodes;
  return (
    <Section id="nodes" title={t.title}>
      <label class="check">
        <input
          type="checkbox"
          aria-describedby="nodes-note"
          checked={own.useNodes ?? config.useNodes}
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
