import { equalBytes } from '../address.ts';
import { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { headEnd, newestPointer, type Pointer, parsePointer } from '../content/pointer.ts';
import { asAntwayError } from '../errors.ts';
import { nodeLimits } from '../nodes/node-limits.ts';
import type { Nodes, ReadOptions } from '../nodes/nodes.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { PointerReader } from './paid-pointers.ts';

/**
 * Reads pointers and chunks from the nodes of a network. Its `pointer` gives the newest state that a node close to the
 * address has. It throws AntwayError `NOT_FOUND` if most of them have none, and `PEERS_UNREACHABLE` if too few answer.
 */
export function nodePointerReader(nodes: Pick<Nodes, 'chunk' | 'pointers'>): PointerReader {
  const statesOf = (address: Parameters<Nodes['pointers']>[0], signal: AbortSignal) => {
    const options: ReadOptions<Pointer> = { signal, verify: (record) => parsePointer(record, address) };
    return nodes.pointers(address, options);
  };
  return {
    url: 'Direct access',
    fetch: (address, signal) =>
      nodes.chunk(address, {
        signal,
        verify: async (bytes) => VerifiedChunk.verify(address, bytes, await loadBlake3()).bytes,
      }),
    pointer: async (address, _maxBytes, signal) =>
      newestPointer(undefined, await statesOf(address, signal))!.record,
    async hasState(address, record, signal) {
      const head = record.subarray(0, headEnd);
      try {
        const states = await statesOf(address, signal);
        const holders = states.filter((state) => equalBytes(state.record.subarray(0, headEnd), head));
        return holders.length >= nodeLimits.majority;
      } catch (error) {
        if (asAntwayError(error).code !== 'NOT_FOUND') throw error;
        return false;
      }
    },
  };
}
