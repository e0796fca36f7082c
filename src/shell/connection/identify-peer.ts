import { limits } from '../../limits.ts';
import { PeerUrl } from '../../peer-url.ts';
import { ByteReader } from '../../peers/transports/byte-reader.ts';
import { dialects } from '../../peers/transports/dialect.ts';
import { decodeInfo, type PeerInfo } from '../../peers/transports/protocol.ts';
import { accessTo, isRefused, spaceOf, targetOf } from './local-access.ts';
import { byDefaultPort } from './peer-candidates.ts';

/**
 * The reason why no peer was found.
 *
 * - `refused`: no server answers.
 * - `hidden`: a server answers, but it does not allow this page to read its answers (CORS).
 * - `foreign`: a server answers, but it is no peer.
 * - `denied`: the browser does not let this page reach the local network.
 * - `mixed`: this browser sends no unprotected request from this page.
 */
export type Obstacle = 'refused' | 'hidden' | 'foreign' | 'denied' | 'mixed';

export type Identified =
  /** `info` is null for AntTP and antd. */
  | { peer: PeerUrl; info: PeerInfo | null; obstacle?: never }
  /** `peer` is the most likely URL. */
  | { peer: PeerUrl; obstacle: Obstacle };

/** How long a server may take to answer, and the user to answer the browser's question, in milliseconds. */
const answerMs = 4_000;
const questionMs = 60_000;

/** Asks the servers in turn which kind of peer they are. The first that is one counts, otherwise the first obstacle. */
export async function identifyPeer(candidates: readonly PeerUrl[], signal: AbortSignal): Promise<Identified> {
  let first: Identified | undefined;
  for (const candidate of candidates) {
    const found = await identifyAt(candidate, signal);
    if (!found.obstacle) return found;
    if (!first || (first.obstacle === 'refused' && found.obstacle !== 'refused')) first = found;
  }
  return first!;
}

async function identifyAt(candidate: PeerUrl, signal: AbortSignal): Promise<Identified> {
  const { origin, kind } = candidate;
  // The user may add the peer although it was not found.
  const likely = kind === 'antway' ? byDefaultPort(candidate) : candidate;
  const isAsked = (await accessTo(spaceOf(origin))) === 'prompt';
  const ask = (path: string, mode: RequestMode = 'cors') =>
    answerOf(
      origin,
      path,
      mode,
      AbortSignal.any([signal, AbortSignal.timeout(isAsked ? questionMs : answerMs)]),
    );

  const info = kind === 'antway' ? await ask(dialects.antway.ping) : undefined;
  const description = info?.status === 200 ? descriptionIn(info.bytes) : undefined;
  if (description) return { peer: candidate, info: description };

  const kinds = kind === 'antway' ? (['antd', 'anttp'] as const) : [kind];
  let isReadable = info !== undefined;
  for (const each of kinds) {
    const answer = await ask(dialects[each].ping);
    isReadable ||= answer !== undefined;
    if (answer && signs[each](answer)) return { peer: PeerUrl.parse(`${each}+${origin}`), info: null };
  }
  signal.throwIfAborted();
  if (isReadable) return { peer: likely, obstacle: 'foreign' };
  if (await ask(dialects[kind].ping, 'no-cors')) return { peer: likely, obstacle: 'hidden' };
  signal.throwIfAborted();
  if (await isRefused(origin)) return { peer: likely, obstacle: 'denied' };
  return { peer: likely, obstacle: blocksPlainLoopback(origin) ? 'mixed' : 'refused' };
}

interface Answer {
  status: number;
  bytes: Uint8Array | undefined;
}

/** Undefined if no server answers, or if the page may not read the answer. */
async function answerOf(
  origin: string,
  path: string,
  mode: RequestMode,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  try {
    const response = await fetch(origin + path, {
      mode,
      signal,
      cache: 'no-store',
      credentials: 'omit',
      // The browser refuses other values for requests whose answer it hides.
      redirect: mode === 'no-cors' ? 'follow' : 'error',
      referrerPolicy: 'no-referrer',
      ...targetOf(origin),
    });
    if (!response.body) return { status: response.status, bytes: undefined };
    const reader = new ByteReader(response.body, () => undefined);
    const bytes = await reader.readToEnd(limits.infoBytes).finally(() => void reader.cancel());
    return { status: response.status, bytes };
  } catch {
    return undefined;
  }
}

function descriptionIn(bytes: Uint8Array | undefined): PeerInfo | undefined {
  try {
    return decodeInfo(bytes);
  } catch {
    return undefined;
  }
}

/** The answers to `ping` by which AntTP and antd are known. */
const signs = {
  antd: ({ status, bytes }: Answer) => status === 200 && jsonOf(bytes)?.status === 'ok',
  // It refuses an address that is too short.
  anttp: ({ status, bytes }: Answer) =>
    status >= 400 && status < 500 && jsonOf(bytes)?.GetError !== undefined,
};

function jsonOf(bytes: Uint8Array | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** WebKit sends no `http://` request from an `https://` page, not even to this computer. */
function blocksPlainLoopback(origin: string): boolean {
  return location.protocol === 'https:' && origin.startsWith('http:') && 'line' in new Error();
}
