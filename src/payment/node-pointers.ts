import type { Address } from '../address.ts';
import { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { newestPointer, parsePointer } from '../content/pointer.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import { isSameState, type PointerReader } from './paid-pointers.ts';
import { isAtMajority } from './pointer-majority.ts';

/**
 * Reads pointers and chunks from the nodes of a network. Its `pointer` gives the newest state that a node close to the
 * address has. It throws AntwayError `NOT_FOUND` if most of them have none, and `PEERS_UNREACHABLE` if too few answer.
 */
export function nodePointerReader(nodes: Pick<Nodes, 'chunk' | 'pointers' | 'pointerVotes'>): PointerReader {
  const readOptions = (address: Address, signal: AbortSignal) => ({
    signal,
    verify: (record: Uint8Array<ArrayBuffer>) => parsePointer(record, address),
  });
  return {
    url: 'Direct access',
    fetch: (address, signal) =>
      nodes.chunk(address, {
        signal,
        verify: async (bytes) => VerifiedChunk.verify(address, bytes, await loadBlake3()).bytes,
      }),
    pointer: async (address, _maxBytes, signal) =>
      newestPointer(undefined, await nodes.pointers(address, readOptions(address, signal)))!.record,
    async hasState(address, record, signal) {
      const { records, denials } = await nodes.pointerVotes(address, readOptions(address, signal));
      const holders = records.filter((state) => isSameState(state.record, record)).length;
      return isAtMajority(holders, records.length - holders + denials);
    },
  };
}
