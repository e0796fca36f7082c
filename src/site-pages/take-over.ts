import type { Settings } from '../config.ts';
import { mergeSettings } from './library-offer.ts';
import type { LibraryOffer, OfferedSite } from './messages.ts';
import { type MovePort, MoveProblem } from './move-port.ts';

/** A part of the library that was not copied, and the reason. */
export interface TakeOverProblem {
  /** The site's title or address. Null for the settings. */
  what: string | null;
  code: string;
  message: string;
}

/**
 * Copies an offered library through the endpoints of this origin, which validate all of it. You can run it
 * again: each run copies only what is still missing.
 */
export class TakeOver {
  readonly #offer: LibraryOffer;
  readonly #port: MovePort;
  readonly #taken = new Set<OfferedSite>();

  constructor(offer: LibraryOffer, port: MovePort) {
    this.#offer = offer;
    this.#port = port;
  }

  /** @returns the number of sites that all runs have copied, and the problems of this run. */
  async run(
    onProgress: (done: number, count: number, site: OfferedSite) => void,
  ): Promise<{ copied: number; problems: TakeOverProblem[] }> {
    const problems: TakeOverProblem[] = [];
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
    const { sites } = this.#offer;
    // Settings come first, because the user's limit and denied addresses apply to the sites.
    await attempt(null, () => this.#takeSettings());
    for (const [i, site] of sites.entries()) {
      if (this.#taken.has(site)) continue;
      onProgress(i + 1, sites.length, site);
      const isTaken = await attempt(site.title ?? site.address, () => this.#takeSite(site));
      if (isTaken) this.#taken.add(site);
    }
    return { copied: this.#taken.size, problems };
  }

  async #takeSettings(): Promise<void> {
    const own = await ask<Settings>('settings');
    const merged = mergeSettings(own, this.#offer.settings);
    if (JSON.stringify(merged) !== JSON.stringify(own)) {
      await ask('settings', 'PUT', JSON.stringify(merged));
    }
    const decided = new Set((await ask<{ address: string }[]>('trust')).map(({ address }) => address));
    for (const address of this.#offer.restricted) {
      if (decided.has(address)) continue;
      await ask('trust', 'POST', JSON.stringify({ address, decision: 'restricted' }));
    }
  }

  async #takeSite(site: OfferedSite): Promise<void> {
    const { address, isPinned, isPrivate } = site;
    // The manifest comes before the visit, so that the visit of a private site is stored without its title.
    if (isPrivate) await this.#takeManifest(address);
    if (site.lastOpened !== null) await noteVisit(site);
    if (!isPinned) return;
    if (!(await isPinComplete(address))) await this.#takePinned(address);
    if (site.lastOpened === null) await noteVisit(site);
    // The shell on this origin then copies the pin to the site's own origin.
    await ask('origins', 'POST', JSON.stringify({ address }));
  }

  async #takeManifest(address: string): Promise<void> {
    const manifest = await this.#port.get('manifest', address);
    const { id } = await ask<{ id: string }>('manifests?check', 'POST', manifest);
    if (id !== address) throw new MoveProblem('CORRUPT', `This is the manifest of ${id}, another site.`);
    await ask('manifests', 'POST', manifest);
  }

  /** Imports all chunks of a site, and pins the site. */
  async #takePinned(address: string): Promise<void> {
    const file = await this.#port.get('site', address);
    const imported = await ask<{ address: string; refused: { reason: string }[] }>('import', 'POST', file);
    const [refused] = imported.refused;
    if (refused) throw new MoveProblem('CORRUPT', refused.reason);
    if (imported.address !== address) throw new MoveProblem('CORRUPT', `This was ${imported.address}.`);
  }
}

async function noteVisit(site: OfferedSite): Promise<void> {
  const { address, path, name, kind, lastOpened, isPrivate } = site;
  const { title, icon } = isPrivate ? { title: null, icon: null } : site;
  await ask('visits', 'POST', JSON.stringify({ address, path, name, title, icon, kind, lastOpened }));
}

async function isPinComplete(wanted: string): Promise<boolean> {
  const { pins } = await ask<{ pins: { address: string; state: string }[] }>('pins');
  return pins.some(({ address, state }) => address === wanted && state === 'complete');
}

/** @throws MoveProblem with the code and message of the endpoint's error. */
async function ask<T>(path: string, method = 'GET', body: Blob | string | null = null): Promise<T> {
  const response = await fetch(`/-/${path}`, { method, body, cache: 'no-store' });
  if (response.status === 204) return undefined as T;
  const value = await response.json();
  if (!response.ok) throw new MoveProblem(value.code, value.message);
  return value;
}
