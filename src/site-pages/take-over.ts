import { publications } from '../gateway/state/publications.ts';
import { limits } from '../limits.ts';
import type { LeftName } from '../names/name-changes.ts';
import type { Settings } from '../server-config.ts';
import { ask } from './endpoint.ts';
import { mergeSettings } from './library-offer.ts';
import type { LibraryOffer, LibraryPart, OfferedPublication, OfferedSite } from './messages.ts';
import { MoveProblem } from './move-port.ts';
import { readPublication } from './read-publication.ts';

export interface TakeOverProblem {
  /** The site's title or address. Null for the settings. */
  what: string | null;
  code: string;
  message: string;
}

/** Supplies the parts of a library that are not in its offer. */
export interface LibrarySource {
  /** @param address id of a publication. */
  get(kind: LibraryPart, address: string): Promise<Blob>;
  /** Whether `get` supplies a pinned site. If not, its chunks are fetched from peers. Default: it supplies all. */
  has?(kind: 'site', address: string): boolean;
}

/** Copies a library through endpoints that validate all of it. A repeated run copies only what is still missing. */
export class TakeOver {
  readonly #offer: LibraryOffer;
  readonly #source: LibrarySource;
  readonly #taken = new Set<OfferedSite | OfferedPublication>();
  /** The names of this origin's host, with their addresses. */
  #names: Record<string, string> = {};

  constructor(offer: LibraryOffer, source: LibrarySource) {
    this.#offer = offer;
    this.#source = source;
  }

  /**
   * @returns the numbers of sites and publications that all runs have copied, the problems of this run, and the names that
   *   are left out because this origin has them, or others like them. Another run would not change that.
   */
  async run(
    onProgress: (done: number, count: number, what: string) => void,
  ): Promise<{ copied: number; published: number; problems: TakeOverProblem[]; left: LeftName[] }> {
    const problems: TakeOverProblem[] = [];
    let left: LeftName[] = [];
    const attempt = async (what: string | null, work: () => Promise<void>) => {
      try {
        await work();
        return true;
      } catch (error) {
        const { code = 'INTERNAL', message } = error as Error & { code?: string };
        problems.push({ what, code, message });
        return false;
      }
    };
    const { sites, publications } = this.#offer;
    const count = sites.length + publications.length;
    const taken = (list: readonly (OfferedSite | OfferedPublication)[]) =>
      list.filter((each) => this.#taken.has(each)).length;
    // Settings come first, because the user's limit and denied addresses apply to the sites.
    await attempt(null, async () => {
      left = await this.#takeSettings();
    });
    for (const [i, site] of sites.entries()) {
      if (this.#taken.has(site)) continue;
      const what = site.title ?? site.address;
      onProgress(i + 1, count, what);
      if (await attempt(what, () => this.#takeSite(site))) this.#taken.add(site);
    }
    for (const [i, publication] of publications.entries()) {
      if (this.#taken.has(publication)) continue;
      const what = publication.title || publication.id;
      onProgress(sites.length + i + 1, count, what);
      if (await attempt(what, () => this.#takePublication(publication))) this.#taken.add(publication);
    }
    return { copied: taken(sites), published: taken(publications), problems, left };
  }

  /** @returns the names that are left out. */
  async #takeSettings(): Promise<LeftName[]> {
    const own = await ask<Settings>('settings');
    const { names, nameLists } = await ask<Required<Pick<Settings, 'names' | 'nameLists'>>>('config');
    const { merged, left } = mergeSettings(own, this.#offer.settings, { names, nameLists });
    if (JSON.stringify(merged) !== JSON.stringify(own)) {
      await ask('settings', 'PUT', JSON.stringify(merged));
    }
    this.#names = names;
    const decided = new Set((await ask<{ address: string }[]>('trust')).map(({ address }) => address));
    for (const address of this.#offer.restricted) {
      if (decided.has(address)) continue;
      await ask('trust', 'POST', JSON.stringify({ address, decision: 'restricted' }));
    }
    return left;
  }

  async #takeSite(site: OfferedSite): Promise<void> {
    const { address, isPinned, isPrivate } = site;
    // The manifest comes before the visit, so that the visit of a private site is stored without its title.
    if (isPrivate) await this.#takeManifest(address);
    if (site.lastOpened !== null) await this.#noteVisit(site);
    if (!isPinned) return;
    if (!(await isPinComplete(address))) await this.#pin(address);
    if (site.lastOpened === null) await this.#noteVisit(site);
    // The shell on this origin then copies the pin to the site's own origin.
    await ask('origins', 'POST', JSON.stringify({ address }));
  }

  async #takeManifest(address: string): Promise<void> {
    const manifest = await this.#source.get('manifest', address);
    if (manifest.size > limits.manifestBytes) {
      throw new MoveProblem('TOO_LARGE', `A manifest has at most ${limits.manifestBytes} bytes.`);
    }
    const { id } = await ask<{ id: string }>('manifests?check', 'POST', manifest);
    if (id !== address) throw new MoveProblem('CORRUPT', `This is the manifest of ${id}, another site.`);
    const { isStored } = await ask<{ isStored: boolean }>('manifests', 'POST', manifest);
    // Without storage, the keys of the site would be lost with the other library.
    if (!isStored) throw new MoveProblem('REFUSED', 'This browser lets the gateway store nothing here.');
  }

  async #takePublication({ id }: OfferedPublication): Promise<void> {
    await publications.restore(await readPublication(await this.#source.get('publication', id), id));
  }

  async #pin(address: string): Promise<void> {
    if (this.#source.has?.('site', address) ?? true) return this.#takePinned(address);
    await ask('pins', 'POST', JSON.stringify({ address, action: 'pin' }));
  }

  async #takePinned(address: string): Promise<void> {
    const file = await this.#source.get('site', address);
    const imported = await ask<{ refused: { reason: string }[] }>(`import?address=${address}`, 'POST', file);
    const [refused] = imported.refused;
    if (refused) throw new MoveProblem('CORRUPT', refused.reason);
  }

  async #noteVisit(site: OfferedSite): Promise<void> {
    const { address, kind, lastOpened, isPrivate } = site;
    const { title, icon } = isPrivate ? { title: null, icon: null } : site;
    const { path, name } = this.#isNamedHere(site)
      ? site
      : { path: `/${address}${site.path.endsWith('/') ? '/' : ''}`, name: null };
    await ask('visits', 'POST', JSON.stringify({ address, path, name, title, icon, kind, lastOpened }));
  }

  /** Whether the host of this origin has the name of a site, if it has one. Its address may be that of a pointer. */
  #isNamedHere({ name }: OfferedSite): boolean {
    return name === null || Object.hasOwn(this.#names, name);
  }
}

async function isPinComplete(wanted: string): Promise<boolean> {
  const { pins } = await ask<{ pins: { address: string; state: string }[] }>('pins');
  return pins.some(({ address, state }) => address === wanted && state === 'complete');
}
