import type { ComponentChildren } from 'preact';
import { Button } from '../button.tsx';
import { DeleteEverything } from '../delete-everything.tsx';
import { texts } from '../texts/texts.ts';
import { libraryMove, type MoveState } from './library-move.ts';
import type { MoveOffer } from './use-library-move.ts';

interface Props {
  id: string;
  offer: MoveOffer;
  onDeleted: () => void;
  children?: ComponentChildren;
}

export function MoveSteps({ id, offer, onDeleted, children }: Props) {
  const { target, hasLibrary, state } = offer;
  const t = texts.move;
  const isOver = state.step === 'done';
  return (
    <>
      <span>
        {state.step === 'rest' && t.offer(target)}
        {state.step === 'rest' && hasLibrary && ` ${t.offerLibrary}`}
        <span role="status">{announcementOf(state, target)}</span>
      </span>
      <div class="banner-actions">
        {hasLibrary && state.step !== 'open' && !(isOver && state.failed === 0) && (
          <Button isSmall onClick={() => libraryMove.start(target)}>
            {t.start}
          </Button>
        )}
        <a class="button button-quiet button-small" href={isOver ? `${target}/#library` : `${target}/`}>
          {isOver ? t.openLibrary : t.open}
        </a>
        {isOver && (
          <DeleteEverything
            id={`${id}-delete`}
            label={t.delete}
            question={state.failed > 0 ? t.confirmDeletePartly(state.failed) : t.confirmDelete}
            isSmall
            onDeleted={() => {
              libraryMove.end('deleted');
              offer.refresh();
              onDeleted();
            }}
          />
        )}
        {children}
      </div>
    </>
  );
}

function announcementOf(state: MoveState, target: string): string {
  const t = texts.move;
  switch (state.step) {
    case 'rest':
      return '';
    case 'blocked':
      return t.blocked;
    case 'open':
      return t.goOn;
    case 'cancelled':
      return t.cancelled;
    case 'done':
      return t.done(state.copied, state.published, state.failed, target);
    case 'deleted':
      return texts.settings.resetDone;
  }
}
