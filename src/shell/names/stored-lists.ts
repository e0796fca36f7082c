import { clear, createStore, delMany, entries, setMany, type UseStore } from 'idb-keyval';
import { Address } from '../../address.ts';
import { limits } from '../../limits.ts';
import { nameProblem } from '../../names/petname.ts';
import { Observable } from '../observable.ts';

/** A list of names as this browser has it. */
export interface StoredList {
  /** A text of a stranger, in one line. Empty if the list has none. */
  title: string;
  /** Name → address. */
  names: Record<string, string>;
  /** How many names of the list were left out. */
  left: number;
  /** When the list was read, in milliseconds since 1970. Null if it was never read. */
  readAt: number | null;
  /** When it was last tried. */
  triedAt: number;
  /** The error code of the last attempt, and its message. Null if the attempt succeeded. */
  problem: { code: string; message: string } | null;
}

/** The stored lists by their addresses, 64 hex digits. */
export type StoredLists = ReadonlyMap<string, StoredList>;

/** The stored lists, as far as this page knows them. Null until they are read. */
export const lists = new Observable<StoredLists | null>(null);

const channelName = 'antway-name-lists';
let store: UseStore | undefined;

function database(): UseStore {
  store ??= createStore('antway-names', 'lists');
  return store;
}

/** Reads the lists that are stored. Without storage there are none. A list with a wrong form counts as never read. */
export async function readLists(): Promise<void> {
  const stored = await entries<string, StoredList>(database()).catch((error) => {
    console.warn('antway: the lists of names cannot be read', error);
    return [];
  });
  lists.set(new Map(stored.filter(([address, list]) => Address.isHex(address) && isStoredList(list))));
}

/** Every page that runs scripts on this origin can write to the database. A wrong form would stop the whole app. */
function isStoredList(list: unknown): boolean {
  const { title, names, left, readAt, triedAt, problem } = Object(list);
  const all = Object.entries(Object(names));
  return (
    typeof title === 'string' &&
    typeof names === 'object' &&
    names !== null &&
    Number.isInteger(left) &&
    Number.isFinite(triedAt) &&
    (readAt === null || Number.isFinite(readAt)) &&
    (problem === null || (typeof problem?.code === 'string' && typeof problem.message === 'string')) &&
    all.length <= limits.listedNames &&
    all.every(([name, address]) => nameProblem(name) === null && Address.isHex(String(address)))
  );
}

/** Stores lists, and tells all pages. If the browser stores nothing, the lists last as long as this page. */
export async function storeLists(changed: StoredLists): Promise<void> {
  if (changed.size === 0) return;
  await setMany([...changed], database()).catch((error) =>
    console.warn('antway: the lists of names are not stored', error),
  );
  lists.set(new Map([...(lists.state ?? []), ...changed]));
  tellOthers();
}

/** Deletes the lists at these addresses. */
export async function deleteLists(addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  await delMany([...addresses], database()).catch(() => undefined);
  lists.set(new Map([...(lists.state ?? [])].filter(([address]) => !addresses.includes(address))));
  tellOthers();
}

/** Deletes all lists. @throws the errors of the database. */
export async function clearLists(): Promise<void> {
  await clear(database());
  lists.set(new Map());
  tellOthers();
}

function tellOthers(): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(null);
  channel.close();
}

/** Follows the changes of other pages. @returns a function that ends that. */
export function followLists(): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = () => void readLists();
  return () => channel.close();
}
