import { texts } from './texts/texts.ts';
import type { Update } from './use-worker.ts';

/** Tells that there is a newer version. It is never put in place unasked: open sites use the one before. */
export function UpdateNotice({ update }: { update: Update }) {
  return (
    <div class="banner" role="status">
      <span>{textOf(update)}</span>
      {update.state !== 'waiting' && (
        <button type="button" class="button button-small" onClick={update.apply}>
          {texts.notices.updateNow}
        </button>
      )}
    </div>
  );
}

function textOf({ state, running }: Update): string {
  switch (state) {
    case 'ready':
      return texts.notices.update;
    case 'waiting':
      return texts.notices.updateWaits(running);
    case 'elsewhere':
      return texts.notices.updatedElsewhere;
  }
}
