import { paymentTexts } from '../texts/payment.ts';
import type { NetworkProblem } from './network-choice.ts';

/** The problem in the fields of the network. */
export default function NetworkProblemText({ problem }: { problem: NetworkProblem }) {
  const t = paymentTexts();
  const texts = { relay: t.badRelay, 'no-relay': t.noRelayChosen, chain: t.badChain };
  return <p class="note note-problem">{texts[problem]}</p>;
}
