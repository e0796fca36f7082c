import { useState } from 'preact/hooks';
import { PeerUrl } from '../../peer-url.ts';
import { Button } from '../button.tsx';
import type { GatewayConfig } from '../gateway-api.ts';
import { hostOf } from '../live/peer-rows.ts';
import { ProblemText } from '../problem-text.tsx';
import { Section } from '../section.tsx';
import { TextField } from '../text-field.tsx';
import { texts } from '../texts/texts.ts';
import { type PublishState, publishSession } from './publish-session.ts';
import { SaveSection } from './save-section.tsx';

/** The values of the form. They stay while the user visits other screens. */
const lastForm = { unchecked: new Set<string>(), other: '', token: '', isPrivate: false };

interface Props {
  state: Extract<PublishState, { step: 'ready' | 'stopped' }>;
  config: GatewayConfig | null;
}

export function PublishTargets({ state, config }: Props) {
  // A newer version of private content is private too, unless the user changes it.
  const [form, setForm] = useState(() => {
    const { replaces } = publishSession;
    return replaces ? { ...Object.assign(lastForm, { isPrivate: replaces.isPrivate }) } : lastForm;
  });
  const [problem, setProblem] = useState<'peer' | 'none' | null>(null);
  const t = texts.publish;
  const known = (config?.peers ?? []).filter((url) => takesChunks(PeerUrl.parse(url)));

  function change(part: Partial<typeof lastForm>) {
    setForm(Object.assign(lastForm, part) && { ...lastForm });
    setProblem(null);
  }

  function publish() {
    const peers = known.filter((url) => !form.unchecked.has(url));
    if (form.other.trim()) {
      try {
        const peer = PeerUrl.parse(form.other.trim(), location.origin);
        if (!takesChunks(peer)) throw new TypeError('AntTP and antd are not written to.');
        peers.push(String(peer));
      } catch {
        setProblem('peer');
        document.getElementById('other-peer')?.focus();
        return;
      }
    }
    if (peers.length === 0) {
      setProblem('none');
      return;
    }
    const { token, isPrivate } = form;
    publishSession.publish({ peers: [...new Set(peers)], token: token.trim(), isPrivate });
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
          <fieldset class="choice">
            <legend>{t.peers}</legend>
            {known.map((url) => (
              <label key={url} class="check">
                <input
                  type="checkbox"
                  checked={!form.unchecked.has(url)}
                  onChange={({ currentTarget }) => {
                    const unchecked = new Set(form.unchecked);
                    if (currentTarget.checked) unchecked.delete(url);
                    else unchecked.add(url);
                    change({ unchecked });
                  }}
                />
                <span title={url}>{hostOf(url)}</span>
              </label>
            ))}
          </fieldset>
          <div class="field-pair">
            <TextField
              id="other-peer"
              label={t.otherPeer}
              type="url"
              placeholder={t.otherPeerPlaceholder}
              isMono
              value={form.other}
              isBad={problem === 'peer'}
              onInput={(other) => change({ other })}
            />
            <TextField
              id="token"
              label={t.token}
              type="password"
              note={t.tokenNote}
              isMono
              value={form.token}
              onInput={(token) => change({ token })}
            />
          </div>
          <fieldset class="choice">
            <legend>{t.whoTitle}</legend>
            {[false, true].map((isPrivate) => (
              <label key={String(isPrivate)} class="check">
                <input
                  type="radio"
                  name="who"
                  checked={form.isPrivate === isPrivate}
                  onChange={() => change({ isPrivate })}
                />
                <span>
                  <strong>{isPrivate ? t.private : t.public}</strong>
                  <span class="note check-note">{isPrivate ? t.privateNote : t.publicNote}</span>
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
      <SaveSection state={state} isPrivate={form.isPrivate} />
    </>
  );
}

/** Whether a peer accepts chunks from this page. AntTP and antd have their own ways to upload, which cost money. */
function takesChunks({ kind }: PeerUrl): boolean {
  return kind === 'antway';
}
