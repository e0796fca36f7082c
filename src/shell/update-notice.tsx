import { texts } from './texts/texts.ts';

/** Tells that a newer version waits. It is never put in place unasked: open sites use the one before. */
export function UpdateNotice({ onUpdate }: { onUpdate: () => void }) {
  return (
    <div class="banner" role="status">
      <span>{texts.notices.update}</span>
      <button type="button" class="button button-small" onClick={onUpdate}>
        {texts.notices.updateNow}
      </button>
    </div>
  );
}
