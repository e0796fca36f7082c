import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { asGatewayApiError, type GatewayApiError, type GatewayConfig } from '../gateway-api.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { useSiteIsolation } from '../origins/use-site-isolation.ts';
import type { NetworkChoice, NetworkProblem } from '../payment/network-choice.ts';
import { ProblemText } from '../problem-text.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { PeerFields, type PeerProblem, usePeerChoice } from './peer-fields.tsx';
import { isSave, type PublishState, publishSession } from './publish-session.ts';
import { SaveSection } from './save-section.tsx';
import type { UnlockSigner } from './sign-fields.tsx';

/** The choices stay while the user visits other screens. */
const last = { isPrivate: false, atPeers: true, inNetwork: false };

const SignFields = lazyComponent(() => import('./sign-fields.tsx'));
const NetworkFields = lazyComponent(() => import('../payment/network-fields.tsx'));

interface Props {
  state: Extract<PublishState, { step: 'ready' | 'stopped' }>;
  config: GatewayConfig | null;
}

type Problem = PeerProblem | NetworkProblem | 'nowhere' | 'not-here';

export function PublishTargets({ state, config }: Props) {
  const choice = usePeerChoice(config);
  const isolation = useSiteIsolation(config !== null);
  // A newer version of private content is private too, unless the user changes it.
  const [form, setForm] = useState(() => {
    last.isPrivate = publishSession.replaces?.isPrivate ?? last.isPrivate;
    return { ...last };
  });
  const [network, setNetwork] = useState<NetworkChoice | NetworkProblem>('no-relay');
  const [problem, setProblem] = useState<Problem | null>(null);
  const unlock = useRef<UnlockSigner>(async () => null);
  const [unlocking, setUnlocking] = useState<'no' | 'yes' | GatewayApiError>('no');
  const t = texts.publish;
  useEffect(() => setProblem(null), [choice.form, form, network]);
  const change = (part: Partial<typeof last>) => setForm({ ...Object.assign(last, part) });
  const { isPrivate, atPeers } = form;
  const inNetwork = form.inNetwork && isolation.value === 'own';

  // Where sites run on this origin, or may do so, nothing may be signed.
  const maySign = state.picked.isFolder && isolation.value === 'own';
  async function withSigner(go: (signer: Uint8Array | null) => void) {
    if (unlocking === 'yes') return;
    setUnlocking('yes');
    try {
      const signer = maySign ? await unlock.current() : null;
      setUnlocking('no');
      go(signer);
    } catch (error) {
      setUnlocking(asGatewayApiError(error));
      document.getElementById('sign-passphrase')?.focus();
    }
  }

  function publish() {
    const peers = atPeers ? choice.chosen() : { peers: [], token: '' };
    const wrong =
      form.inNetwork && !inNetwork
        ? 'not-here'
        : !atPeers && !inNetwork
          ? 'nowhere'
          : typeof peers === 'string'
            ? peers
            : inNetwork && typeof network === 'string'
              ? network
              : null;
    setProblem(wrong);
    if (wrong !== null) document.getElementById(fieldOf[wrong])?.focus();
    else if (typeof peers !== 'string') {
      const paid = inNetwork && typeof network !== 'string' ? network : null;
      void withSigner((signer) => publishSession.publish({ ...peers, isPrivate, network: paid, signer }));
    }
  }

  const isStopped = state.step === 'stopped' && !isSave(state.task);
  const error = state.step === 'stopped' && isSave(state.task) ? null : state.error;
  const networkProblem = isOneOf(networkProblems, problem) ? problem : null;
  const peerProblem = isOneOf(peerProblems, problem) ? problem : null;
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
            <legend class="visually-hidden">{t.whereTitle}</legend>
            <Check
              id="at-peers"
              label={t.atPeers}
              isChecked={atPeers}
              onChange={(checked) => change({ atPeers: checked })}
            />
            <Check
              id="in-network"
              label={t.inNetwork}
              note={t.inNetworkNote}
              isChecked={form.inNetwork}
              onChange={(checked) => change({ inNetwork: checked })}
            />
          </fieldset>
          {atPeers && <PeerFields choice={choice} problem={peerProblem} />}
          {form.inNetwork && (
            <NetworkFields
              config={config}
              isolation={isolation.value}
              problem={networkProblem}
              onChange={setNetwork}
            />
          )}
          <fieldset class="choice">
            <legend>{t.whoTitle}</legend>
            {[false, true].map((value) => (
              <label key={String(value)} class="check">
                <input
                  type="radio"
                  name="who"
                  checked={isPrivate === value}
                  onChange={() => change({ isPrivate: value })}
                />
                <span>
                  <strong>{value ? t.private : t.public}</strong>
                  <span class="note check-note">{value ? t.privateNote : t.publicNote}</span>
                </span>
              </label>
            ))}
          </fieldset>
          {maySign && (
            <SignFields
              onChange={(changed) => {
                unlock.current = changed;
                setUnlocking('no');
              }}
            />
          )}
          <p class="note" role="status">
            {unlocking === 'yes' && maySign && t.unlocking}
          </p>
          <div role="alert">
            {unlocking !== 'no' && unlocking !== 'yes' && (
              <p class="note note-problem">
                <ProblemText problem={unlocking} />
              </p>
            )}
            {peerProblem && (
              <p class="note note-problem">{peerProblem === 'peer' ? t.badPeer : t.noPeerChosen}</p>
            )}
            {problem === 'nowhere' && <p class="note note-problem">{t.nowhere}</p>}
            {problem === 'not-here' && (
              <p class="note note-problem">
                {t.notHere} {isolation.error && <ProblemText problem={isolation.error} />}
              </p>
            )}
            {error && (
              <p class="note note-problem">
                {isStopped && `${t.failed} `}
                <ProblemText problem={error} />
              </p>
            )}
            {isStopped && !error && <p class="note">{t.cancelled}</p>}
          </div>
          <p class="actions">
            <Button type="submit">{inNetwork ? t.seePrice : isStopped ? t.resume : t.start}</Button>
          </p>
        </form>
      </Section>
      <SaveSection state={state} isPrivate={isPrivate} withSigner={withSigner} />
    </>
  );
}

const peerProblems = ['peer', 'none'] as const;
const networkProblems = ['relay', 'no-relay', 'chain'] as const;

const fieldOf: Record<Problem, string> = {
  peer: 'other-peer',
  none: 'other-peer',
  relay: 'other-relay',
  'no-relay': 'other-relay',
  chain: 'test-chain',
  nowhere: 'at-peers',
  'not-here': 'in-network',
};

function isOneOf<T extends string>(all: readonly T[], value: string | null): value is T {
  return (all as readonly (string | null)[]).includes(value);
}

interface CheckProps {
  id: string;
  label: string;
  note?: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}

function Check({ id, label, note, isChecked, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>
        <strong>{label}</strong>
        {note && <span class="note check-note">{note}</span>}
      </span>
    </label>
  );
}
