import { useState } from 'preact/hooks';
import { texts } from './texts/texts.ts';

interface Props {
  persisted: boolean;
  onChange: () => void;
}

/** Whether the browser may clear what is stored here, as it says itself; and the way to ask it not to. */
export function Persistence({ persisted, onChange }: Props) {
  const [refused, setRefused] = useState(false);

  async function ask() {
    setRefused(!(await navigator.storage.persist()));
    onChange();
  }

  if (persisted) return <p class="note">{texts.live.persisted}</p>;
  return (
    <p class="note">
      {texts.live.mayClear}{' '}
      {refused ? (
        <span role="status">{texts.live.persistRefused}</span>
      ) : (
        <button type="button" class="link" onClick={ask}>
          {texts.live.askPersist}
        </button>
      )}
    </p>
  );
}
