import { Button } from '../button.tsx';
import { formatChunks } from '../format.ts';
import { ProblemText } from '../problem-text.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { Picked } from './pick.ts';
import { isSave, type PublishState, publishSession, type Saved } from './publish-session.ts';
import { ResultLinks } from './result.tsx';

interface Props {
  state: Extract<PublishState, { step: 'ready' | 'stopped' }>;
  isPrivate: boolean;
  /** Calls `go` with the seed of the key that signs the files, unless the key cannot be used. */
  withSigner: (go: (signer: Uint8Array | null) => void) => void;
}

/** Saves the chosen files in the formats of the network's own tools, instead of an upload to peers. */
export function SaveSection({ state, isPrivate, withSigner }: Props) {
  const { picked } = state;
  const stopped = state.step === 'stopped' && isSave(state.task) ? state : null;
  const t = texts.publish;
  return (
    <Section id="save" title={t.saveTitle}>
      <p class="note">
        {t.saveNote} {isPrivate && t.savePrivateNote}
      </p>
      {stopped && (
        <p class={stopped.error ? 'note note-problem' : 'note'} role="alert">
          {stopped.error ? (
            <>
              {t.failed} <ProblemText problem={stopped.error} />
            </>
          ) : (
            t.saveCancelled
          )}
        </p>
      )}
      <p class="actions">
        <Button
          look="quiet"
          onClick={() => withSigner((signer) => publishSession.saveChunks(isPrivate, signer))}
        >
          {t.saveChunks}
        </Button>
        {picked.isFolder && (
          <Button look="quiet" onClick={() => withSigner((signer) => publishSession.saveTar(signer))}>
            {t.saveTar}
          </Button>
        )}
      </p>
      {state.saved && <SavedChunks saved={state.saved} picked={picked} />}
    </Section>
  );
}

function SavedChunks({ saved, picked }: { saved: Saved; picked: Picked }) {
  const t = texts.publish;
  return (
    <>
      <p class="note" role="status">
        {t.savedChunks(formatChunks(saved.chunks))}
      </p>
      {saved.manifest && <p class="notice-strong">{saved.isStored ? t.privateStored : t.privateNote}</p>}
      <ResultLinks encrypted={saved} picked={picked} />
    </>
  );
}
