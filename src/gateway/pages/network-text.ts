import type { Attempt, ErrorCode } from '../../errors.ts';
import { splitKind } from '../../peer-url.ts';
import type { NetworkOfPeer } from '../../peers/selection/pool.ts';
import type { PeerNetwork } from '../../peers/transports/protocol.ts';
import { type Html, html, shellTarget } from './page.ts';
import type { Reader } from './reader.ts';
import type { PageTexts } from './texts/texts.ts';

/** The state of a peer's network in words. The problem is in the peer's language, English. */
export function networkText({ name, state, peers, problem }: PeerNetwork, { network: t }: PageTexts): Html {
  const text = isConnected({ state })
    ? t.connected(name, peers)
    : t.notConnected(name, state === 'connecting');
  // The peer's text must not change the direction of the text around it.
  return html`<bdi>${text}</bdi>${problem ? html` <bdi lang="en">(${problem})</bdi>` : ''}`;
}

/** The networks that the peers of a gateway reach. */
export interface Reach {
  peers: readonly NetworkOfPeer[];
  /** The peers that have blocked the address. */
  refusing: ReadonlySet<string>;
  /** The peers that answered no request. Their earlier statements may be out of date. */
  silent: ReadonlySet<string>;
  /** Whether another peer is connected to a network, or is a program that reads from one. */
  isNetwork: boolean;
}

/** @param attempts to fetch the content. */
export function reachOf(peers: readonly NetworkOfPeer[], attempts: readonly Attempt[]): Reach {
  const refusing = new Set(attempts.flatMap(({ code, peer }) => (code === 'DENIED' ? peer : [])));
  const answering = new Set(attempts.flatMap((each) => (isSilence(each) ? [] : each.peer)));
  const silent = new Set(attempts.flatMap(({ peer }) => (answering.has(peer) ? [] : peer)));
  const isNetwork = peers.some(
    (each) =>
      !refusing.has(each.peer) &&
      !silent.has(each.peer) &&
      (isProgram(each) || (each.network && isConnected(each.network))),
  );
  return { peers, refusing, silent, isNetwork };
}

function isSilence({ code, answered, busy }: Attempt): boolean {
  return code === 'PEERS_UNREACHABLE' && !answered && !busy;
}

/** Most peers on a page. */
const listedPeers = 5;

/** The URL of AntTP with its default settings, on this computer. */
const antTp = 'anttp+http://127.0.0.1:18888';

/**
 * Says what the gateway is connected to and, if that is no network, what the user can do.
 * @param code of the error. `NOT_FOUND`: every peer answered that it does not have the content.
 * @param shell URL of the shell, if the user can add a peer there.
 */
export function reachText(reach: Reach, reader: Reader, code: ErrorCode, shell: string | undefined): Html {
  const { peers, silent, isNetwork } = reach;
  const { texts } = reader;
  const { network: t } = texts;
  const speaking = peers.filter(({ peer }) => !silent.has(peer));
  const clients = speaking.filter(({ network }) => network);
  const isKnown =
    speaking.every(({ network }) => network !== undefined) && (speaking.length > 0 || peers.length === 0);
  const isAnyConnected = clients.some(({ network }) => isConnected(network!));
  const isAbsent = code === 'NOT_FOUND';
  const summary =
    code === 'DENIED'
      ? ''
      : clients.length > 0
        ? html`<p>${isAnyConnected ? (isAbsent ? t.searched : t.incomplete) : t.notSearched}</p>`
        : isKnown
          ? html`<p>${t.none}</p>`
          : '';
  const items = peers.slice(0, listedPeers).map(
    (peer) => html`<li><code>${peer.peer}</code>: ${peerText(peer, reach, texts)}</li>
`,
  );
  const more = peers.length - items.length;
  const list = html`<ul class="peers">
${items}${more > 0 ? html`<li>${texts.andMore(more)}</li>` : ''}</ul>`;
  return html`${summary}
${peers.length > 0 ? list : ''}
${shell && !isNetwork ? nextSteps(reader, shell) : ''}`;
}

function peerText(peer: NetworkOfPeer, { refusing, silent }: Reach, texts: PageTexts): Html {
  const { network: t } = texts;
  if (refusing.has(peer.peer)) return html`${t.blocks}`;
  if (silent.has(peer.peer)) return html`${t.noAnswer}`;
  if (peer.network) return networkText(peer.network, texts);
  if (isProgram(peer)) return html`${t.program}`;
  return html`${peer.network === null ? t.store : t.silent}`;
}

/** AntTP and antd read from the network but do not describe it. */
function isProgram({ peer }: NetworkOfPeer): boolean {
  return splitKind(peer).kind !== 'antway';
}

function nextSteps(reader: Reader, shell: string): Html {
  const { network: t } = reader.texts;
  return html`<ul class="steps">
<li><a href="${shell}#peer=${encodeURIComponent(antTp)}"${shellTarget(reader)}>${t.connectAntTp[0]}</a>${t.connectAntTp[1]}</li>
<li>${t.run} <code class="command">npm start -- --network</code></li>
</ul>`;
}

function isConnected({ state }: Pick<PeerNetwork, 'state'>): boolean {
  return state === 'connected';
}
