import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';
import { asGatewayApiError, type GatewayApiError, type ListedSite } from './gateway-api.ts';
import { ProblemText } from './problem-text.tsx';
import { texts } from './texts/texts.ts';

interface Props {
  persisted: boolean;
  /** Whether there are sites on their own origins, which this text does not cover. */
  isOwnOnly?: boolean;
  /** Asks the browser for persistent storage. Default: for the origin of this page. */
  ask?: () => Promise<boolean>;
  /** As of `AskToKeep`. */
  page?: string | undefined;
  onChange: () => void;
}

export function Persistence({ persisted, isOwnOnly = false, ask = askHere, page, onChange }: Props) {
  const t = texts.live;
  if (persisted) return <p class="note">{isOwnOnly ? t.persistedOwn : t.persisted}</p>;
  return (
    <p class="note">
      {isOwnOnly ? t.mayClearOwn : t.mayClear} <AskToKeep ask={ask} page={page} onChange={onChange} />
    </p>
  );
}

interface AskProps {
  /** The name of the button for screen readers. */
  label?: string;
  ask: () => Promise<boolean>;
  /** A page of the origin itself. The user can ask the browser there if this page cannot. */
  page?: string | undefined;
  onChange: () => void;
}

/** A button that asks the browser for persistent storage. A refusal or an error takes its place. */
export function AskToKeep({ label, ask, page, onChange }: AskProps) {
  const [isRefused, setRefused] = useState(false);
  const [error, setError] = useState<GatewayApiError | null>(null);

  async function onClick() {
    setError(null);
    try {
      setRefused(!(await ask()));
    } catch (caught) {
      setError(asGatewayApiError(caught));
    }
    onChange();
  }

  return (
    <>
      {!isRefused && (
        <Button look="link" aria-label={label} onClick={onClick}>
          {texts.live.askPersist}
        </Button>
      )}
      <span role="status">
        {isRefused && (page ? texts.live.persistRefusedSite : texts.live.persistRefused)}
        {isRefused && page && (
          <>
            {' '}
            <a href={page} target="_blank" rel="noreferrer">
              {texts.live.persistThere}
            </a>
          </>
        )}
        {error && (
          <>
            {' '}
            <ProblemText problem={error} />
          </>
        )}
      </span>
    </>
  );
}

export function isUnpersisted({ pin, hasOwnOrigin, persisted }: ListedSite): boolean {
  return pin !== null && hasOwnOrigin && persisted === false;
}

export function UnpersistedSites({ sites }: { sites: readonly ListedSite[] }) {
  const { length } = sites.filter(isUnpersisted);
  if (length === 0) return null;
  return <p class="note note-problem">{texts.live.mayClearSites(length, formatCount(length))}</p>;
}

function askHere(): Promise<boolean> {
  return navigator.storage.persist();
}
