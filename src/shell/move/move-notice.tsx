import { useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { Icon } from '../icons.tsx';
import { dismissMove, isMoveDismissed } from '../preferences.ts';
import { texts } from '../texts/texts.ts';
import { libraryMove } from './library-move.ts';
import { MoveSteps } from './move-steps.tsx';
import type { MoveOffer } from './use-library-move.ts';

interface Props {
  offer: MoveOffer;
  /** Called after the library at this address was deleted: the page must render everything anew. */
  onDeleted: () => void;
}

/** A dismissed notice does not come back. The settings show the same offer. */
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
          <Button look="icon" aria-label={texts.move.dismiss} onClick={dismiss}>
            <Icon name="close" />
          </Button>
        )}
      </MoveSteps>
    </section>
  );
}
