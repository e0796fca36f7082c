import { Address } from '../address.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import type { PeerUrl } from '../peer-url.ts';
import { HttpTransport } from '../peers/transports/http.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { Output } from './output.ts';
import { forEachInLanes } from './whole-content.ts';

/** The chunks of some content at one peer. Addresses are in hex. */
export interface ChunkCheck {
  peer: string;
  right: number;
  missing: string[];
  /** The peer sent other bytes. */
  wrong: string[];
  /** Why the check ended early. Null if it is complete. */
  problem: string | null;
}

/** Fetches every chunk from one peer and verifies it. A peer with upstreams then holds the chunks that it lacked. */
export async function checkChunks(
  peer: PeerUrl,
  addresses: readonly Address[],
  signal: AbortSignal,
  onChunk: () => void,
): Promise<ChunkCheck> {
  const blake3 = await loadBlake3();
  const transport = new HttpTransport(peer);
  const check: ChunkCheck = { peer: peer.id, right: 0, missing: [], wrong: [], problem: null };
  try {
    await forEachInLanes(addresses, signal, async (address, either) => {
      try {
        const bytes = await transport.fetch(address, either);
        if (Address.fromBytes(blake3(bytes)).equals(address)) check.right++;
        else check.wrong.push(address.hex);
      } catch (error) {
        const { code } = asAntwayError(error);
        if (code === 'NOT_FOUND') check.missing.push(address.hex);
        else if (code === 'CORRUPT') check.wrong.push(address.hex);
        else throw error;
      }
      onChunk();
    });
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = asAntwayError(error);
    check.problem = `${code}: ${message}`;
  }
  return check;
}

/** Prints a line for each peer. */
export function printChecks(checks: readonly ChunkCheck[], total: number, output: Output): void {
  for (const { peer, right, missing, wrong, problem } of checks) {
    const faults = [
      ...(missing.length > 0 ? [`${missing.length} missing`] : []),
      ...(wrong.length > 0 ? [`${wrong.length} wrong`] : []),
      ...(problem ? [problem] : []),
    ];
    output.line(
      `${peer}  ${right} of ${total} chunks are right${faults.length > 0 ? `; ${faults.join('; ')}` : ''}`,
    );
  }
}

/** @throws AntwayError `CORRUPT`, `NOT_FOUND` or `PEERS_UNREACHABLE` if a peer does not have all chunks. */
export function requireAllRight(checks: readonly ChunkCheck[]): void {
  const wrong = checks.filter(({ wrong }) => wrong.length > 0);
  if (wrong.length > 0) {
    throw new AntwayError('CORRUPT', `${peersIn(wrong)} sent wrong bytes.`, { chunks: wrong[0]!.wrong });
  }
  const missing = checks.filter(({ missing }) => missing.length > 0);
  if (missing.length > 0) {
    throw new AntwayError('NOT_FOUND', `${peersIn(missing)} does not have all chunks.`, {
      chunks: missing[0]!.missing.slice(0, 100),
    });
  }
  const failed = checks.filter(({ problem }) => problem !== null);
  if (failed.length > 0) {
    throw new AntwayError(
      'PEERS_UNREACHABLE',
      `${peersIn(failed)} could not be checked: ${failed[0]!.problem}`,
      {
        answered: true,
      },
    );
  }
}

function peersIn(checks: readonly ChunkCheck[]): string {
  return checks.map(({ peer }) => peer).join(' and ');
}
