import { isLoopback, type PeerKind, PeerUrl, withKind } from '../../peer-url.ts';

const defaultPorts: readonly [PeerKind, number][] = [
  ['antway', 8080],
  ['anttp', 18888],
  ['antd', 8082],
];

/**
 * The URLs that a user may mean, most likely first: a text that `PeerUrl.parse` accepts, a host with or without a port,
 * or a URL with a path. For this computer without a port, the default ports of the programs.
 * @throws AntwayError `BAD_CONFIG`.
 */
export function peerCandidates(text: string, baseUrl: string): PeerUrl[] {
  const written = text.trim();
  const isExact = written === '/' || /^(anttp|antd)\+|#sha-/i.test(written);
  const lowered = written.replace(/^\w+\+/, (kind) => kind.toLowerCase());
  if (isExact) return [PeerUrl.parse(lowered, baseUrl)];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) return [PeerUrl.parse(originOf(written))];
  const url = /\s/.test(written) ? undefined : parsed(`http://${written}`);
  if (!url || url.username || url.password) return [PeerUrl.parse(written)];
  if (!isLoopback(url)) return [PeerUrl.parse(`https://${url.host}`)];
  if (url.port) return [PeerUrl.parse(`http://${url.host}`), PeerUrl.parse(`https://${url.host}`)];
  return defaultPorts.map(([kind, port]) => PeerUrl.parse(withKind(kind, `http://${url.hostname}:${port}`)));
}

/** The same origin, of the kind whose default port it has on this computer. */
export function byDefaultPort(peer: PeerUrl): PeerUrl {
  const { port } = new URL(peer.origin);
  const [kind = 'antway'] = defaultPorts.find(([, each]) => String(each) === port) ?? [];
  return kind !== 'antway' && peer.isLoopback ? PeerUrl.parse(withKind(kind, peer.origin)) : peer;
}

function parsed(text: string): URL | undefined {
  return text.length < 2_048 && URL.canParse(text) ? new URL(text) : undefined;
}

/** Without path and query. Credentials stay, so that `parse` refuses them. */
function originOf(text: string): string {
  const url = parsed(text);
  return url && !url.username && !url.password ? `${url.protocol}//${url.host}` : text;
}
