import { nodeError } from '../nodes/node-error.ts';
import { nodeLimits } from '../nodes/node-limits.ts';

/**
 * Whether most nodes of the close group have a state of a pointer.
 * @param holders the number of nodes that have it.
 * @param others the number of nodes that have another state, or none. The rest is silent.
 * @throws AntwayError `PEERS_UNREACHABLE` if the silent nodes decide.
 */
export function isAtMajority(holders: number, others: number): boolean {
  if (holders >= nodeLimits.majority) return true;
  if (others > nodeLimits.closeGroup - nodeLimits.majority) return false;
  throw nodeError('unreachable', 'Too few nodes say whether they have the state of a pointer.');
}
