import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Peers } from '../../owner/owned-pointers.ts';
import type { Payment } from '../../payment/pay.ts';
import { raceAbort } from '../../util/watchdog.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { partProblem } from '../part-problem.ts';
import { type NetworkChoice, type NetworkProblem, networkFieldOf } from '../payment/network-choice.ts';
import type { PaidState, PointerDue } from '../payment/pointer-network.ts';
import { PeerFields, type PeerProblem, usePeerChoice } from '../publish/peer-fields.tsx';
import { pointerTexts } from '../texts/pointers.ts';
import { texts } from '../texts/texts.ts';
import { peersAt, statesAt } from './owned.ts';
import { FormProblem } from './pointer-form.tsx';

const NetworkFields = lazyComponent(() => import('../payment/network-fields.tsx'));

/** Where pointers are stored. */
type Place = 'peers' | 'network';

const places: readonly Place[] = ['peers', 'network'];

/** The choice stays while the user visits other screens. Null if there is none. */
let lastPlace: Place | null = null;

/** Sets the place that the next forms begin with. @param place null for the default. */
export function presetPlace(place: Place | null): void {
  lastPlace = place;
}

/** The number of actions in the network that have not ended. Each may wait for a payment. */
let running = 0;

/** Whether an action may wait for a payment. Nothing else should take the place of its form. */
export function isPaymentRunning(): boolean {
  return running > 0;
}

/** An action that asks the chosen place and stores there. */
type Action<T> = (peers: Peers) => Promise<T>;

/** Runs an action at the chosen place. @param name of the pointer, for the user. */
type RunAt = <T>(name: string, signal: AbortSignal, action: Action<T>) => Promise<T>;

/** The place that a form's action asks and stores at, and the folded fields to choose it. */
export function usePlace(config: GatewayConfig | null) {
  const peers = usePeerChoice(config);
  const [chosen, choose] = useState(lastPlace);
  const [network, setNetwork] = useState<NetworkChoice | NetworkProblem>('no-relay');
  const [problem, setProblem] = useState<PeerProblem | NetworkProblem | null>(null);
  const [question, setQuestion] = useState<ComponentChildren>(null);
  const hasPeer = config === null || peers.known.length > 0 || peers.form.other.trim() !== '';
  const place = chosen ?? (hasPeer ? 'peers' : 'network');
  const [isOpen, setOpen] = useState(place === 'network');
  const lastPaid = useRef<PaidState | null>(null);
  const idPrefix = `${useId()}-`;
  const t = pointerTexts();
  useEffect(() => setProblem(null), [peers.form, network, place]);

  /** Says what is wrong, and unfolds the fields. */
  function refuse(wrong: PeerProblem | NetworkProblem): FormProblem {
    setProblem(wrong);
    setOpen(true);
    // The fields of the network say what is wrong.
    if (isOfNetwork(wrong)) return new FormProblem('', `${idPrefix}${networkFieldOf[wrong]}`);
    const { badPeer, noPeerChosen } = texts.publish;
    return new FormProblem(wrong === 'peer' ? badPeer : noPeerChosen, `${idPrefix}other-peer`);
  }

  async function runInNetwork<T>(
    choice: NetworkChoice,
    name: string,
    signal: AbortSignal,
    action: Action<T>,
  ): Promise<T> {
    running++;
    try {
      return await runOpened(choice, name, signal, action);
    } finally {
      running--;
    }
  }

  async function runOpened<T>(
    choice: NetworkChoice,
    name: string,
    signal: AbortSignal,
    action: Action<T>,
  ): Promise<T> {
    const [{ openPointerNetwork }, { PointerPrice }] = await loadPayment();
    signal.throwIfAborted();
    const askToPay = (due: PointerDue) => {
      const paying = new Promise<Pick<Payment, 'amount' | 'fees'>>((resolve, reject) => {
        const goBack = () => reject(new FormProblem(t.notPaid));
        setQuestion(<PointerPrice due={due} onPaid={resolve} onBack={goBack} />);
      });
      return raceAbort(paying, signal).finally(() => setQuestion(null));
    };
    const known = statesAt(peers.known);
    const payment = { name, askToPay, known, signal };
    const { peer, relayPeers, others, paid, close } = await openPointerNetwork(choice, payment);
    try {
      const done = await action({ peers: [peer], relayPeers, others, signal });
      lastPaid.current = paid();
      return done;
    } finally {
      close();
    }
  }

  return {
    fields: (
      <details
        class="pointer-place"
        open={isOpen}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>{t.where}</summary>
        <fieldset class="choice">
          <legend class="visually-hidden">{t.placeQuestion}</legend>
          {places.map((each) => (
            <label key={each} class="check">
              <input
                type="radio"
                name="place"
                checked={each === place}
                onChange={() => {
                  presetPlace(each);
                  choose(each);
                }}
              />
              <span>
                <strong>{t.places[each]}</strong>
                {each === 'network' && <span class="note check-note">{t.networkNote}</span>}
              </span>
            </label>
          ))}
        </fieldset>
        {place === 'peers' ? (
          <PeerFields choice={peers} problem={isOfNetwork(problem) ? null : problem} idPrefix={idPrefix} />
        ) : (
          <NetworkFields
            config={config}
            // Elsewhere there is no form.
            isolation="own"
            problem={isOfNetwork(problem) ? problem : null}
            note={t.relaysNote}
            idPrefix={idPrefix}
            onChange={setNetwork}
          />
        )}
      </details>
    ),
    /** The price, which the user has to answer before the action goes on. Null most of the time. */
    question,
    isNetwork: place === 'network',
    /** The payment for the state that the action stored in the network. Null if there is none. */
    paid: () => lastPaid.current,
    /** The chosen place. @throws FormProblem if a part of the choice is missing; as `peersAt`. */
    chosen(): RunAt {
      if (place === 'network') {
        if (typeof network === 'string') throw refuse(network);
        return (name, signal, action) => runInNetwork(network, name, signal, action);
      }
      const choice = peers.chosen();
      if (typeof choice === 'string') throw refuse(choice);
      const at = peersAt(choice);
      const others = statesAt(peers.known, at.peers);
      return (_name, signal, action) => action({ ...at, others, signal });
    },
  };
}

/** Loaded when it is needed: most actions cost nothing. @throws GatewayApiError `PART_UNAVAILABLE`. */
function loadPayment() {
  return Promise.all([import('../payment/pointer-network.ts'), import('../payment/pointer-price.tsx')]).catch(
    (error) => {
      throw partProblem(error);
    },
  );
}

function isOfNetwork(problem: PeerProblem | NetworkProblem | null): problem is NetworkProblem {
  return problem !== null && problem in networkFieldOf;
}
