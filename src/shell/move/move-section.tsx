import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { MoveSteps } from './move-steps.tsx';
import type { MoveOffer } from './use-library-move.ts';

/** The offer of the notice, as a section of the settings. */
export function MoveSection({ offer, onDeleted }: { offer: MoveOffer; onDeleted: () => void }) {
  return (
    <Section id="move" title={texts.move.title}>
      <div class="move-steps">
        <MoveSteps id="move-section" offer={offer} onDeleted={onDeleted} />
      </div>
    </Section>
  );
}
