import { clear } from 'idb-keyval';
import { openNodeStore } from '../../nodes/node-memory.ts';
import { withoutOwner } from '../../nodes/ownership.ts';

/**
 * Forgets the nodes that answered. Call this after the user settings are deleted: a page that owns the connections again
 * would store its nodes again. @throws the errors of the database.
 */
export async function forgetNodes(): Promise<void> {
  await withoutOwner(navigator.locks, () => clear(openNodeStore()));
}
