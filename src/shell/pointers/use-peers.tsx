import { useState } from 'preact/hooks';
import type { GatewayConfig } from '../gateway-api.ts';
import { PeerFields, type PeerProblem, usePeerChoice } from '../publish/peer-fields.tsx';
import { pointerTexts } from '../texts/pointers.ts';
import { texts } from '../texts/texts.ts';
import { peersAt } from './owned.ts';
import { FormProblem } from './pointer-form.tsx';

/** The peers that a form's action asks and writes to, and the folded fields to choose them. */
export function usePeers(config: GatewayConfig | null) {
  const choice = usePeerChoice(config);
  const [problem, setProblem] = useState<PeerProblem | null>(null);
  return {
    fields: (
      <details class="pointer-peers" open={problem !== null}>
        <summary>{pointerTexts().where}</summary>
        <PeerFields choice={choice} problem={problem} />
      </details>
    ),
    /** @throws FormProblem if none is chosen; as `peersAt`. */
    peers() {
      const chosen = choice.chosen();
      setProblem(typeof chosen === 'string' ? chosen : null);
      if (typeof chosen !== 'string') return peersAt(chosen);
      const { badPeer, noPeerChosen } = texts.publish;
      throw new FormProblem(chosen === 'peer' ? badPeer : noPeerChosen, 'other-peer');
    },
  };
}
