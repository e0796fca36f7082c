import { get, promisifyRequest, type UseStore } from 'idb-keyval';
import { Address } from '../address.ts';
import type { Content } from '../content/resolver.ts';
import { AntwayError } from '../errors.ts';

/** A site or file that was opened. */
export interface Visit {
  address: string;
  /** The path to open it again: `/<address or name>/`, or without the slash for a file. */
  path: string;
  /** The alias it was opened by, if it was. */
  name: string | null;
  /** What its document calls itself. */
  title: string | null;
  /** Path of its icon. */
  icon: string | null;
  kind: Content['kind'];
  /** Milliseconds since 1970. Null when that was forgotten, and the rest is kept for a pin. */
  lastOpened: number | null;
}

/** Most visits that are remembered. */
const mostVisits = 1_000;

const prefix = 'site:';
const range = () => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/**
 * What was opened, one visit to an address: the last. History in the clear, as a browser's own is, so of what only a
 * manifest opens there is no title and no icon in it.
 */
export class Visits {
  readonly #settings: UseStore;

  constructor(settings: UseStore) {
    this.#settings = settings;
  }

  /** Those opened last come first. */
  async list(): Promise<Visit[]> {
    const visits = await this.#settings('readonly', (store) =>
      promisifyRequest<Visit[]>(store.getAll(range())),
    );
    return visits.sort((a, b) => (b.lastOpened ?? 0) - (a.lastOpened ?? 0));
  }

  get({ hex }: Address): Promise<Visit | undefined> {
    return get<Visit>(prefix + hex, this.#settings);
  }

  /**
   * Notes a visit. Title and icon stay as they were where this one has none.
   * @param isPrivate whether neither may be kept, now or from before.
   */
  async add(visit: Visit, isPrivate = false): Promise<void> {
    await this.#settings('readwrite', async (store) => {
      const key = prefix + visit.address;
      const before = await promisifyRequest<Visit | undefined>(store.get(key));
      const title = isPrivate ? null : (visit.title ?? before?.title ?? null);
      const icon = isPrivate ? null : (visit.icon ?? before?.icon ?? null);
      store.put({ ...visit, title, icon } satisfies Visit, key);
      if (!before && (await promisifyRequest(store.count(range()))) > mostVisits) await removeOldest(store);
      await promisifyRequest(store.transaction);
    });
  }

  /** Forgets when something was opened, and keeps what it is called. */
  async forgetTime({ hex }: Address): Promise<void> {
    await this.#settings('readwrite', async (store) => {
      const visit = await promisifyRequest<Visit | undefined>(store.get(prefix + hex));
      if (visit) store.put({ ...visit, lastOpened: null } satisfies Visit, prefix + hex);
      await promisifyRequest(store.transaction);
    });
  }

  async remove({ hex }: Address): Promise<void> {
    await this.#settings('readwrite', (store) => {
      store.delete(prefix + hex);
      return promisifyRequest(store.transaction);
    });
  }

  async clear(): Promise<void> {
    await this.#settings('readwrite', (store) => {
      store.delete(range());
      return promisifyRequest(store.transaction);
    });
  }
}

/** Most UTF-16 units of a title and of a path to an icon. */
const mostCharacters = 2_000;

/**
 * Reads a visit that the gateway noted at another name. Its paths become links of the shell, so they stay on this origin.
 * @throws AntwayError `REFUSED`.
 */
export function parseVisit(value: unknown): Visit {
  const { address, path, name, title, icon, kind, lastOpened } = (value ?? {}) as Record<string, unknown>;
  const root = /^\/([a-z\d][\w.-]{0,99})\/?$/i.exec(String(path))?.[1];
  const isText = (text: unknown) =>
    text === null || (typeof text === 'string' && text.length <= mostCharacters);
  const isVisit =
    typeof address === 'string' &&
    Address.isHex(address) &&
    root !== undefined &&
    (name === null || name === root) &&
    isText(title) &&
    isText(icon) &&
    (icon === null || /^\/[^/\\]/.test(icon as string)) &&
    ['archive', 'file', 'record'].includes(kind as string) &&
    (lastOpened === null || (Number.isSafeInteger(lastOpened) && (lastOpened as number) <= Date.now()));
  if (!isVisit) throw new AntwayError('REFUSED', 'This is not a visit.');
  const { hex } = Address.fromHex(address);
  return { address: hex, path, name, title, icon, kind, lastOpened } as Visit;
}

async function removeOldest(store: IDBObjectStore): Promise<void> {
  const visits = await promisifyRequest<Visit[]>(store.getAll(range()));
  const oldest = visits.reduce((a, b) => ((a.lastOpened ?? 0) <= (b.lastOpened ?? 0) ? a : b));
  store.delete(prefix + oldest.address);
}
