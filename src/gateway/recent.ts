import { del, get, update } from 'idb-keyval';
import { settings } from './settings.ts';
import type { ContentTarget } from './target.ts';

/** A site that was opened. */
export interface RecentSite {
  address: string;
  /** The alias it was opened by, if it was. */
  name: string | null;
  /** The path to open it again: `/<address or name>/`, or without the slash for a file. */
  path: string;
  /** Milliseconds since 1970. */
  openedAt: number;
}

const key = 'recent';
const maxSites = 50;

/** The sites opened last, newest first. Where storage is blocked the list is empty. */
export class RecentSites {
  async list(): Promise<RecentSite[]> {
    return (await get<RecentSite[]>(key, settings)) ?? [];
  }

  async add({ address, name, root, path }: ContentTarget): Promise<void> {
    const site: RecentSite = {
      address: address.hex,
      name: name ?? null,
      path: path === undefined ? root : `${root}/`,
      openedAt: Date.now(),
    };
    await this.#change((sites) =>
      [site, ...sites.filter((other) => other.path !== site.path)].slice(0, maxSites),
    );
  }

  async remove(path: string): Promise<void> {
    await this.#change((sites) => sites.filter((site) => site.path !== path));
  }

  async clear(): Promise<void> {
    await del(key, settings);
  }

  #change(change: (sites: RecentSite[]) => RecentSite[]): Promise<void> {
    return update<RecentSite[]>(key, (sites = []) => change(sites), settings);
  }
}
