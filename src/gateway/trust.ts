import { delMany, get, set, update } from 'idb-keyval';
import type { Address } from '../address.ts';
import type { Config } from '../config.ts';
import { settings } from './settings.ts';

/** Whether a site's documents may run scripts on the gateway's origin. */
export type Decision = 'trusted' | 'restricted';

export interface DecidedSite {
  address: string;
  decision: Decision;
  /** Milliseconds since 1970. */
  decidedAt: number;
}

const key = 'trust';
const tokenKey = 'trust-token';

/** What the person decided of each site, and, where they did not, what the host's configuration did. */
export class Trust {
  readonly #configured: Config['trusted'];
  /**
   * The decisions, as they are kept. Every request asks for one, and nobody but this object changes them: where there
   * are two, the other belongs to a configuration that no longer takes requests.
   */
  #known: Promise<DecidedSite[]> | undefined;

  constructor(configured: Config['trusted']) {
    this.#configured = configured;
  }

  /** @returns undefined when the person has not been asked yet. Where storage is blocked nobody can be. */
  async decision(address: Address): Promise<Decision | undefined> {
    const configured = this.#configured.has(address.hex) ? 'trusted' : undefined;
    try {
      const own = (await this.list()).find((site) => site.address === address.hex);
      return own?.decision ?? configured;
    } catch (error) {
      if (configured) return configured;
      throw error;
    }
  }

  async decide(address: Address, decision: Decision): Promise<void> {
    const site: DecidedSite = { address: address.hex, decision, decidedAt: Date.now() };
    await this.#change((sites) => [site, ...sites.filter((other) => other.address !== site.address)]);
  }

  /** The person is asked again at the next visit. */
  async revoke(address: Address): Promise<void> {
    await this.#change((sites) => sites.filter((site) => site.address !== address.hex));
  }

  /** The person's decisions, newest first. */
  list(): Promise<DecidedSite[]> {
    if (!this.#known) {
      const reading = get<DecidedSite[]>(key, settings).then((sites) => sites ?? []);
      this.#known = reading;
      reading.catch(() => {
        if (this.#known === reading) this.#known = undefined;
      });
    }
    return this.#known;
  }

  /**
   * A secret in the gateway's own form. Content cannot read it, so it cannot make a form that decides for the
   * person.
   */
  async token(): Promise<string> {
    const known = await get<string>(tokenKey, settings);
    if (known) return known;
    const token = crypto.randomUUID();
    await set(tokenKey, token, settings);
    return token;
  }

  /** Forgets every decision, and the token: forms that are open no longer decide. */
  async clear(): Promise<void> {
    await this.#changing(delMany([key, tokenKey], settings));
  }

  #change(change: (sites: DecidedSite[]) => DecidedSite[]): Promise<void> {
    return this.#changing(update<DecidedSite[]>(key, (sites = []) => change(sites), settings));
  }

  /** What was read before the change was complete is not known any more. */
  async #changing(change: Promise<void>): Promise<void> {
    try {
      await change;
    } finally {
      this.#known = undefined;
    }
  }
}
