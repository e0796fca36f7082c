import { DeleteEverything } from '../delete-everything.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';

/** Deletes everything, after the user has confirmed it. */
export function ResetSection({ onReset }: { onReset: () => void }) {
  const t = texts.settings;
  return (
    <Section id="reset" title={t.reset}>
      <p class="note">{t.resetNote}</p>
      <div class="actions">
        <DeleteEverything id="reset" label={t.resetButton} question={t.resetConfirm} onDeleted={onReset} />
      </div>
    </Section>
  );
}
