import { useState } from 'preact/hooks';
import { formatCount } from './format.ts';
import { asGatewayApiError, type GatewayApiError, type ListedSite } from './gateway-api.ts';
import { ProblemText } from './problem-text.tsx';
import { texts } from './texts/texts.ts';

interface Props {
  persisted: boolean;
  /** Whether there are sites on origins of their own, of which this says nothing. */
  isOwnOnly?: boolean;
  /** Asks the browser to keep it; the origin of this page if not given. */
  ask?: () => Promise<boolean>;
  /** As of `AskToKeep`. */
  page?: string | undefined;
  onChange: () => void;
}

/** Whether the browser may clear what is stored on one origin, as it says itself; and the way to ask it not to. */
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
  /** For readers who do not see what it stands beside. */
  label?: string;
  ask: () => Promise<boolean>;
  /** Where the user can ask if this page cannot: a page of the origin itself. */
  page?: string | undefined;
  onChange: () => void;
}

/** A button that asks the browser to keep what is stored; in its place, the refusal or why it could not be asked. */
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
        <button type="button" class="link" aria-label={label} onClick={onClick}>
          {texts.live.askPersist}
        </button>
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

/** Whether the browser may clear a pinned site on an origin of its own. */
export function isUnpersisted({ pin, hasOwnOrigin, persisted }: ListedSite): boolean {
  return pin !== null && hasOwnOrigin && persisted === false;
}

/** Says how many pinned sites the browser may clear on their own. */
export function UnpersistedSites({ sites }: { sites: readonly ListedSite[] }) {
  const { length } = sites.filter(isUnpersisted);
  if (length === 0) return null;
  return <p class="note note-problem">{texts.live.mayClearSites(length, formatCount(length))}</p>;
}

function askHere(): Promise<boolean> {
  return navigator.storage.persist();
}
