import { useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { dismissMove, isMoveDismissed } from '../preferences.ts';
import { texts } from '../texts/texts.ts';
import { libraryMove } from './library-move.ts';
import { MoveSteps } from './move-steps.tsx';
import type { MoveOffer } from './use-library-move.ts';

interface Props {
  offer: MoveOffer;
  /** Called when the library here was deleted: everything is to be rendered anew. */
  onDeleted: () => void;
}

/** Tells once that sites have origins of their own at another address. The settings go on telling it. */
export function MoveNotice({ offer, onDeleted }: Props) {
  const [isDismissed, setDismissed] = useState(isMoveDismissed);
  if (isDismissed && offer.state.step === 'rest') return null;

  function dismiss() {
    dismissMove();
    setDismissed(true);
    libraryMove.end('rest');
    document.getElementById('main')?.focus();
  }

  return (
    <section class="banner" aria-label={texts.move.title}>
      <MoveSteps id="move-notice" offer={offer} onDeleted={onDeleted}>
        {offer.state.step !== 'open' && (
          <button type="button" class="icon-button" aria-label={texts.move.dismiss} onClick={dismiss}>
            <Icon name="close" />
          </button>
        )}
      </MoveSteps>
    </section>
  );
}
