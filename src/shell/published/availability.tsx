import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '../../errors.ts';
import { chunksOf, type Publication } from '../../gateway/state/publications.ts';
import { PeerUrl } from '../../peer-url.ts';
import { type ChunkPresence, checkPeer } from '../../publish/chunk-presence.ts';
import { formatChunks, formatCount } from '../format.ts';
import { asGatewayApiError, type GatewayApiError } from '../gateway-api.ts';
import { hostOf } from '../live/peer-rows.ts';
import { ProblemText } from '../problem-text.tsx';
import { publishedTexts } from '../texts/published.ts';

type PeerResult = { host: string } & ({ found: ChunkPresence } | { error: GatewayApiError });

interface AvailabilityCheck {
  isRunning: boolean;
  /** Null before the first check. */
  results: readonly PeerResult[] | null;
  start(): void;
  stop(): void;
}

/** Asks the peers of a publication, and the gateway's peers, for the chunks. It ends when the row disappears. */
export function useAvailability(publication: Publication, peers: readonly string[]): AvailabilityCheck {
  const [results, setResults] = useState<readonly PeerResult[] | null>(null);
  const [isRunning, setRunning] = useState(false);
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);

  async function start() {
    const stop = new AbortController();
    stopping.current?.abort();
    stopping.current = stop;
    setRunning(true);
    setResults([]);
    const chunks = chunksOf(publication);
    await Promise.all(
      peersToAsk(publication, peers).map(async (peer) => {
        const host = hostOf(String(peer));
        let result: PeerResult;
        try {
          result = { host, found: await checkPeer(peer, chunks, stop.signal) };
        } catch (error) {
          if (isAbort(error, stop.signal)) return;
          result = { host, error: asGatewayApiError(error) };
        }
        if (!stop.signal.aborted) setResults((last) => [...(last ?? []), result]);
      }),
    );
    if (stopping.current === stop) setRunning(false);
  }

  return { isRunning, results, start, stop: () => stopping.current?.abort() };
}

/** Only Antway peers can be asked. A URL that is stored but no longer valid is left out. */
function peersToAsk({ peers }: Publication, configured: readonly string[]): PeerUrl[] {
  const byOrigin = new Map<string, PeerUrl>();
  for (const url of [...peers, ...configured]) {
    try {
      const peer = PeerUrl.parse(url, location.origin);
      if (peer.kind === 'antway' && !byOrigin.has(peer.id)) byOrigin.set(peer.id, peer);
    } catch (error) {
      console.warn('antway: a peer of a publication is not asked', error);
    }
  }
  return [...byOrigin.values()];
}

/** @param all the number of the publication's chunks. */
export function AvailabilityResult({ availability, all }: { availability: AvailabilityCheck; all: number }) {
  const { isRunning, results } = availability;
  const t = publishedTexts();
  const found = results?.flatMap((each) => ('found' in each ? [each] : [])) ?? [];
  const failed = results?.flatMap((each) => ('error' in each ? [each] : [])) ?? [];
  const complete = found.filter(({ found }) => found.present === found.asked);
  const incomplete = found.filter(({ found }) => found.present < found.asked);
  const asked = found[0]?.found.asked;
  return (
    <div class="published-availability" role="status">
      {isRunning && <p class="note">{t.checking}</p>}
      {complete.length > 0 && (
        <p class="note published-good">
          {t.allThere(complete.map(({ host }) => host).join(', '), formatChunks(asked!))}
        </p>
      )}
      {incomplete.map(({ host, found: { present, asked } }) => (
        <p key={host} class="note note-problem">
          {t.someThere(host, formatCount(present), formatChunks(asked))}
        </p>
      ))}
      {failed.map(({ host, error }) => (
        <p key={host} class="note note-problem">
          {t.noAnswer(host)}: <ProblemText problem={error} />
        </p>
      ))}
      {asked !== undefined && asked < all && (
        <p class="note">{t.ofAll(formatCount(asked), formatChunks(all))}</p>
      )}
      {results?.length === 0 && !isRunning && <p class="note">{t.noneToAsk}</p>}
    </div>
  );
}
