import { clear } from 'idb-keyval';
import { withoutLeader } from '../../nodes/leader-election.ts';
import { openNodeStore } from '../../nodes/node-memory.ts';

/**
 * Forgets the nodes that answered. Call this after the user settings are deleted: a page that leads again would
 * store its nodes again. @throws the errors of the database.
 */
export async function forgetNodes(): Promise<void> {
  await withoutLeader(navigator.locks, () => clear(openNodeStore()));
}
