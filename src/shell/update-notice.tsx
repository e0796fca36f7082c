/** Tells that a newer version waits. It is never put in place unasked: open sites use the one before. */
export function UpdateNotice({ onUpdate }: { onUpdate: () => void }) {
  return (
    <div class="banner" role="status">
      <span>A new version of Antway is ready.</span>
      <button type="button" class="button button-small" onClick={onUpdate}>
        Reload
      </button>
    </div>
  );
}
