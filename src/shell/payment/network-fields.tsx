import { useEffect, useState } from 'preact/hooks';
import { isNetworkChain, isTestChain, type PaymentChain } from '../../payment/chain.ts';
import { Relay } from '../../payment/relay.ts';
import { PeerUrl } from '../../peer-url.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { IsolationNotice } from '../origins/isolation-notice.tsx';
import type { SiteIsolation } from '../origins/site-isolation.ts';
import { UrlChecks } from '../publish/url-checks.tsx';
import { TextField } from '../text-field.tsx';
import { paymentTexts } from '../texts/payment.ts';
import {
  chainOf,
  isAskedByHttp,
  lastNetwork,
  type NetworkChoice,
  type NetworkProblem,
  networkChoiceOf,
} from './network-choice.ts';

interface Props {
  config: GatewayConfig | null;
  /** Where sites run. Null while that is being asked. */
  isolation: SiteIsolation | null;
  problem: NetworkProblem | null;
  /** About the relays. By default for files. */
  note?: string;
  /** Begins the ids of the fields, where others like these may be on the screen. */
  idPrefix?: string;
  onChange: (choice: NetworkChoice | NetworkProblem) => void;
}

/** Fields for the relays, and for a test chain, or the reason why this gateway does not pay. */
export default function NetworkFields({ isolation, ...props }: Props) {
  if (isolation === 'own') return <Fields {...props} />;
  const { shared } = paymentTexts();
  return <IsolationNotice isolation={isolation} shared={shared} command="antway publish --network" />;
}

function Fields({ config, problem, note, idPrefix = '', onChange }: Omit<Props, 'isolation'>) {
  const [form, setForm] = useState({ ...lastNetwork });
  const chain = chainOf(form.chain);
  const { found, isAsking } = useRelays(config, chain);
  const t = paymentTexts();
  const network = config?.useNodes ? config.nodes : null;
  useEffect(() => onChange(networkChoiceOf(form, found, network)), [form, found, config?.useNodes]);
  function change(part: Partial<typeof lastNetwork>) {
    Object.assign(lastNetwork, part);
    // Other fields like these may be on the screen, with values of their own.
    setForm((form) => ({ ...form, ...part }));
  }
  const problems = { relay: t.badRelay, 'no-relay': t.noRelayChosen, chain: t.badChain };

  return (
    <div class="network-fields">
      <UrlChecks
        legend={t.relays}
        urls={found}
        unchecked={form.unchecked}
        onChange={(unchecked) => change({ unchecked })}
      >
        <p class="note">{note ?? t.relaysNote}</p>
        <p class="note" role="status">
          {isAsking ? t.findingRelays : found.length === 0 && t.noRelays}
        </p>
      </UrlChecks>
      {config?.useNodes === false && <p class="note">{t.directOff}</p>}
      {network && (
        <label class="check">
          <input
            id={`${idPrefix}direct-upload`}
            type="checkbox"
            checked={form.isDirect}
            onChange={({ currentTarget }) => change({ isDirect: currentTarget.checked })}
          />
          <span>
            <strong>{t.direct}</strong>
            <span class="note check-note">{t.directNote}</span>
          </span>
        </label>
      )}
      <TextField
        id={`${idPrefix}other-relay`}
        label={t.otherRelay}
        type="url"
        placeholder={t.otherRelayPlaceholder}
        isMono
        value={form.other}
        isBad={problem === 'relay' || problem === 'no-relay'}
        onInput={(other) => change({ other })}
      />
      {chain && !isNetworkChain(chain) && <OtherChain chain={chain} />}
      <details open={form.chain !== '' || problem === 'chain'}>
        <summary>{t.testChainTitle}</summary>
        <TextField
          id={`${idPrefix}test-chain`}
          label={t.testChainField}
          note={t.testChainNote}
          isMono
          value={form.chain}
          isBad={problem === 'chain'}
          onInput={(text) => change({ chain: text })}
        />
      </details>
      <p class="note note-problem" role="alert">
        {problem && problems[problem]}
      </p>
    </div>
  );
}

/** Says that the content does not get to the network, and whether payments can have a value. */
export function OtherChain({ chain }: { chain: PaymentChain }) {
  const { isTestChain: ofTestChain, isOtherChain } = paymentTexts();
  const text = isTestChain(chain) ? ofTestChain : isOtherChain;
  return <p class="other-chain">{text(String(chain.chainId))}</p>;
}

/** The user's peers that take paid uploads on this chain, as far as they have answered. */
function useRelays(
  config: GatewayConfig | null,
  chain: PaymentChain | undefined,
): { found: readonly string[]; isAsking: boolean } {
  const [found, setFound] = useState<readonly string[]>([]);
  const [isAsking, setAsking] = useState(true);
  const peers = config?.peers.join(' ') ?? '';
  const id = chain ? `${chain.chainId} ${chain.vault} ${chain.token}` : '';
  useEffect(() => {
    setFound([]);
    if (!chain) return;
    const stop = new AbortController();
    const asked = originsOf(peers).map(async (origin) => {
      await new Relay(origin).check(chain, stop.signal);
      setFound((known) => [...known, origin]);
    });
    setAsking(true);
    // A peer that takes no paid uploads, or does not answer, is not offered.
    Promise.allSettled(asked).then(() => {
      if (!stop.signal.aborted) setAsking(false);
    });
    return () => stop.abort();
  }, [peers, id]);
  return { found, isAsking };
}

/** The HTTP origins of the peers of this protocol. @param peers with spaces between them. */
function originsOf(peers: string): string[] {
  const urls = peers.split(' ').filter((text) => text !== '');
  const asked = urls.map((url) => PeerUrl.parse(url)).filter(isAskedByHttp);
  return [...new Set(asked.map(({ origin }) => origin))];
}
