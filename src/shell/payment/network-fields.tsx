import { useEffect, useState } from 'preact/hooks';
import { isTestChain, type PaymentChain } from '../../payment/chain.ts';
import { Relay } from '../../payment/relay.ts';
import { PeerUrl } from '../../peer-url.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { hostOf } from '../live/peer-rows.ts';
import { TextField } from '../text-field.tsx';
import { paymentTexts } from '../texts/payment.ts';
import {
  chainOf,
  lastNetwork,
  type NetworkChoice,
  type NetworkProblem,
  networkChoiceOf,
} from './network-choice.ts';

interface Props {
  config: GatewayConfig | null;
  problem: NetworkProblem | null;
  onChange: (choice: NetworkChoice | NetworkProblem) => void;
}

/** Fields for the relays, and for a test chain. */
export default function NetworkFields({ config, problem, onChange }: Props) {
  const [form, setForm] = useState({ ...lastNetwork });
  const chain = chainOf(form.chain);
  const found = useRelays(config, chain);
  const t = paymentTexts();
  useEffect(() => onChange(networkChoiceOf(form, found)), [form, found]);
  const change = (part: Partial<typeof lastNetwork>) => setForm({ ...Object.assign(lastNetwork, part) });

  return (
    <div class="network-fields">
      <fieldset class="choice">
        <legend>{t.relays}</legend>
        <p class="note">{t.relaysNote}</p>
        {found.length === 0 && <p class="note">{t.noRelays}</p>}
        {found.map((origin) => (
          <label key={origin} class="check">
            <input
              type="checkbox"
              checked={!form.unchecked.has(origin)}
              onChange={({ currentTarget }) => {
                const unchecked = new Set(form.unchecked);
                if (currentTarget.checked) unchecked.delete(origin);
                else unchecked.add(origin);
                change({ unchecked });
              }}
            />
            <span title={origin}>{hostOf(origin)}</span>
          </label>
        ))}
      </fieldset>
      <TextField
        id="other-relay"
        label={t.otherRelay}
        type="url"
        placeholder={t.otherRelayPlaceholder}
        isMono
        value={form.other}
        isBad={problem === 'relay' || problem === 'no-relay'}
        onInput={(other) => change({ other })}
      />
      {chain && isTestChain(chain) && <TestChain chain={chain} />}
      <details open={form.chain !== '' || problem === 'chain'}>
        <summary>{t.testChainTitle}</summary>
        <TextField
          id="test-chain"
          label={t.testChainField}
          note={t.testChainNote}
          isMono
          value={form.chain}
          isBad={problem === 'chain'}
          onInput={(text) => change({ chain: text })}
        />
      </details>
    </div>
  );
}

/** Says that payments have no value. */
export function TestChain({ chain }: { chain: PaymentChain }) {
  return <p class="test-chain">{paymentTexts().isTestChain(String(chain.chainId))}</p>;
}

/** The user's peers that take paid uploads on this chain. */
function useRelays(config: GatewayConfig | null, chain: PaymentChain | undefined): readonly string[] {
  const [found, setFound] = useState<readonly string[]>([]);
  const peers = config?.peers.join(' ') ?? '';
  const id = chain ? `${chain.chainId} ${chain.vault} ${chain.token}` : '';
  useEffect(() => {
    setFound([]);
    if (!chain) return;
    const stop = new AbortController();
    for (const url of peers.split(' ').filter((text) => text !== '')) {
      const { kind, origin, certificateHashes } = PeerUrl.parse(url);
      if (kind !== 'antway' || certificateHashes.length > 0) continue;
      new Relay(origin).check(chain, stop.signal).then(
        () => setFound((known) => [...new Set([...known, origin])]),
        // A peer that takes no paid uploads, or does not answer, is not offered.
        () => undefined,
      );
    }
    return () => stop.abort();
  }, [peers, id]);
  return found;
}
