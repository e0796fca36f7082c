import { isAbort } from '../../errors.ts';
import { parseNameList } from '../../names/name-list.ts';
import { asGatewayApiError, gateway } from '../gateway-api.ts';
import { deleteLists, lists, readLists, type StoredList, storeLists } from './stored-lists.ts';

/** More lists than this are not read. */
export const mostNameLists = 16;
/** A list is read again after this time, and after a failure after this time. In milliseconds. */
const againMs = { read: 60 * 60_000, failed: 5 * 60_000 };
/** The longest wait for one list, in milliseconds. */
const answerMs = 30_000;

/**
 * Reads the configured lists that are old or were never read, one after the other, and forgets lists that are not
 * configured any more. A list that cannot be read keeps its last names. Other pages wait for their turn.
 * @param wanted label → address. @param isForced reads all of them.
 */
export function refreshLists(
  wanted: Readonly<Record<string, string>>,
  signal: AbortSignal,
  isForced = false,
): Promise<void> {
  return navigator.locks.request('antway-name-lists', { signal }, async () => {
    // Another page may have read them.
    await readLists();
    const known = lists.state ?? new Map<string, StoredList>();
    const addresses = [...new Set(Object.values(wanted))].slice(0, mostNameLists);
    await deleteLists([...known.keys()].filter((address) => !addresses.includes(address)));
    for (const address of addresses) {
      const before = known.get(address);
      if (!isForced && before && !isOld(before, Date.now())) continue;
      const list = await readList(address, before, signal);
      if (signal.aborted) return;
      await storeLists(new Map([[address, list]]));
    }
  });
}

function isOld({ triedAt, problem }: StoredList, now: number): boolean {
  const age = now - triedAt;
  // The clock may have been set back.
  return age < 0 || age >= (problem ? againMs.failed : againMs.read);
}

async function readList(
  address: string,
  before: StoredList | undefined,
  signal: AbortSignal,
): Promise<StoredList> {
  const triedAt = Date.now();
  try {
    const bytes = await gateway.list(address, AbortSignal.any([signal, AbortSignal.timeout(answerMs)]));
    const { title, names, left } = parseNameList(bytes);
    return { title, names, left: left.length, readAt: triedAt, triedAt, problem: null };
  } catch (error) {
    const { code, message } = isAbort(error, signal)
      ? { code: 'PEERS_UNREACHABLE', message: '' }
      : asGatewayApiError(error);
    const last = before ?? { title: '', names: {}, left: 0, readAt: null };
    return { ...last, triedAt, problem: { code, message } };
  }
}
