import { Button } from './button.tsx';
import { texts } from './texts/texts.ts';
import type { OfferedUpdate } from './use-worker.ts';
import type { Update } from './worker-update.ts';

/** A newer version is never applied without the user's consent, because open sites use the current version. */
export function UpdateNotice({ update }: { update: OfferedUpdate }) {
  const { state, by } = update;
  const t = texts.notices;
  return (
    <div class="banner">
      <span role="status">{textOf(update)}</span>
      <span class="banner-actions">
        {(state === 'ready' || state === 'updated') && (
          <Button isSmall onClick={() => by.apply()}>
            {t.updateNow}
          </Button>
        )}
        {state === 'waiting' && (
          <>
            <Button look="quiet" isSmall onClick={() => by.applyNow()}>
              {t.updateAnyway}
            </Button>
            <Button look="quiet" isSmall onClick={() => by.cancel()}>
              {texts.common.cancel}
            </Button>
          </>
        )}
      </span>
    </div>
  );
}

function textOf({ state, answers, isPublishing }: Update): string {
  const t = texts.notices;
  switch (state) {
    case 'ready':
      return t.update;
    case 'waiting':
      return isPublishing ? t.updateWaitsForPublishing : t.updateWaits(answers);
    case 'handing-over':
      return t.updateHandsOver;
    case 'updated':
      return t.updatedElsewhere;
  }
}
