import { useEffect, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import type { GatewayConfig } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { PeerFields, type PeerProblem, usePeerChoice } from './peer-fields.tsx';
import { type PublishState, publishSession } from './publish-session.ts';
import { SaveSection } from './save-section.tsx';

/** The choice stays while the user visits other screens. */
let lastIsPrivate = false;

interface Props {
  state: Extract<PublishState, { step: 'ready' | 'stopped' }>;
  config: GatewayConfig | null;
}

export function PublishTargets({ state, config }: Props) {
  const choice = usePeerChoice(config);
  // A newer version of private content is private too, unless the user changes it.
  const [isPrivate, setPrivate] = useState(() => {
    lastIsPrivate = publishSession.replaces?.isPrivate ?? lastIsPrivate;
    return lastIsPrivate;
  });
  const [problem, setProblem] = useState<PeerProblem | null>(null);
  const t = texts.publish;
  useEffect(() => setProblem(null), [choice.form]);

  function publish() {
    const chosen = choice.chosen();
    if (typeof chosen !== 'string') {
      publishSession.publish({ ...chosen, isPrivate });
      return;
    }
    setProblem(chosen);
    if (chosen === 'peer') document.getElementById('other-peer')?.focus();
  }

  const isStopped = state.step === 'stopped' && state.task === 'publish';
  const error = state.step === 'stopped' && state.task !== 'publish' ? null : state.error;
  return (
    <>
      <Section id="targets" title={t.whereTitle}>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            publish();
          }}
        >
          <PeerFields choice={choice} problem={problem} />
          <fieldset class="choice">
            <legend>{t.whoTitle}</legend>
            {[false, true].map((value) => (
              <label key={String(value)} class="check">
                <input
                  type="radio"
                  name="who"
                  checked={isPrivate === value}
                  onChange={() => {
                    lastIsPrivate = value;
                    setPrivate(value);
                  }}
                />
                <span>
                  <strong>{value ? t.private : t.public}</strong>
                  <span class="note check-note">{value ? t.privateNote : t.publicNote}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <div role="alert">
            {problem && <p class="note note-problem">{problem === 'peer' ? t.badPeer : t.noPeerChosen}</p>}
            {error && (
              <p class="note note-problem">
                {isStopped && `${t.failed} `}
                <ProblemText problem={error} />
              </p>
            )}
            {isStopped && !error && <p class="note">{t.cancelled}</p>}
          </div>
          <p class="actions">
            <Button type="submit">{isStopped ? t.resume : t.start}</Button>
          </p>
        </form>
      </Section>
      <SaveSection state={state} isPrivate={isPrivate} />
    </>
  );
}
