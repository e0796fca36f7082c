import type { NetworkOfPeer } from '../../peers/selection/pool.ts';
import type { PeerNetwork } from '../../peers/transports/protocol.ts';
import { type Html, html } from './page.ts';
import type { PageTexts } from './texts/texts.ts';

/** The state of a peer's network in words. The problem is in the peer's language, English. */
export function networkText({ name, state, peers, problem }: PeerNetwork, { network: t }: PageTexts): Html {
  const text = isConnected({ state })
    ? t.connected(name, peers)
    : t.notConnected(name, state === 'connecting');
  // The peer's text must not change the direction of the text around it.
  return html`<bdi>${text}</bdi>${problem ? html` <bdi lang="en">(${problem})</bdi>` : ''}`;
}

/**
 * Says whether the gateway is connected to a network at all, and what the user can do.
 * @param isAbsent whether every peer answered that it does not have the content.
 * @param settings URL of the settings, if the user can add a peer there.
 */
export function networksText(
  networks: readonly NetworkOfPeer[],
  texts: PageTexts,
  isAbsent: boolean,
  settings: string | undefined,
): Html {
  const { network: t } = texts;
  const clients = networks.flatMap(({ peer, network }) => (network ? [{ peer, network }] : []));
  if (clients.length === 0) {
    // AntTP reads from the network, and a peer that is silent may be connected to it.
    if (networks.some(({ network }) => network === undefined)) return html``;
    return html`<p>${t.none}${settings ? html` ${nextStep(texts, settings)}` : ''}</p>`;
  }
  const items = clients.map(
    ({ peer, network }) => html`<li><code>${peer}</code>: ${networkText(network, texts)}</li>
`,
  );
  const isAnyConnected = clients.some(({ network }) => isConnected(network));
  return html`<p>${isAnyConnected ? (isAbsent ? t.searched : t.incomplete) : t.notSearched}</p>
<ul>
${items}</ul>`;
}

function nextStep({ network: t }: PageTexts, settings: string): Html {
  const [run, add, end] = t.nextStep;
  return html`${run} <code class="command">npm start -- --network</code>${add} <a href="${settings}">${t.settings}</a>${end}`;
}

function isConnected({ state }: Pick<PeerNetwork, 'state'>): boolean {
  return state === 'connected';
}
