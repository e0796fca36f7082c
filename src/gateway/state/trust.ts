import { delMany, get, type UseStore, update } from 'idb-keyval';
import type { Address } from '../../address.ts';
import type { Config } from '../../config.ts';
import type { TrustTokens } from './trust-tokens.ts';

/** Whether a site's documents may run scripts on the gateway's origin. */
export type Decision = 'trusted' | 'restricted';

export interface DecidedSite {
  address: string;
  decision: Decision;
  /** Milliseconds since 1970. */
  decidedAt: number;
  /**
   * The content that trust is bound to: a pointer can lead elsewhere later. If not given, the decision holds for
   * everything that the address leads to, as decisions of earlier versions do.
   */
  content?: string;
  /** Set when the user trusts whatever the pointer's owner publishes. */
  allVersions?: true;
}

/** The decision for the content that an address leads to; undefined when the user has not been asked about it. */
export type DecisionFor = (content: Address) => Decision | undefined;

const key = 'trust';
/** Where earlier versions kept a token. */
const formerTokenKey = 'trust-token';

/** What the user decided of each site, and, where they did not, what the host's configuration did. */
export class Trust {
  readonly #configured: Config['trusted'];
  readonly #state: UseStore;
  readonly #tokens: TrustTokens;
  /**
   * The decisions, as they are kept. Every request asks for one, and nobody but this object changes them: where there
   * are two, the other belongs to a configuration that no longer takes requests.
   */
  #known: Promise<DecidedSite[]> | undefined;

  /** @param tokens of open questions: a decision invalidates them. */
  constructor(configured: Config['trusted'], state: UseStore, tokens: TrustTokens) {
    this.#configured = configured;
    this.#state = state;
    this.#tokens = tokens;
  }

  /** Where storage is blocked, nobody can be asked: rejects unless the host's configuration trusts the address. */
  async decision(address: Address): Promise<DecisionFor> {
    const configured = this.#configured.has(address.hex) ? 'trusted' : undefined;
    try {
      const own = (await this.list()).find((site) => site.address === address.hex);
      return (content) =>
        own?.decision === 'trusted' && own.content !== undefined && own.content !== content.hex
          ? configured
          : (own?.decision ?? configured);
    } catch (error) {
      if (configured) return () => configured;
      throw error;
    }
  }

  /**
   * Stores a decision, and invalidates the tokens of all open questions.
   * @param content that trust is bound to; null for every version that the owner of a pointer publishes.
   */
  async decide(address: Address, decision: Decision, content: Address | null): Promise<void> {
    this.#tokens.clear();
    const site: DecidedSite = { address: address.hex, decision, decidedAt: Date.now() };
    if (decision === 'trusted') {
      if (content) site.content = content.hex;
      else site.allVersions = true;
    }
    await this.#change((sites) => [site, ...sites.filter((other) => other.address !== site.address)]);
  }

  /** The user is asked again at the next visit. */
  async revoke(address: Address): Promise<void> {
    this.#tokens.clear();
    await this.#change((sites) => sites.filter((site) => site.address !== address.hex));
  }

  /** The user's decisions, newest first. */
  list(): Promise<DecidedSite[]> {
    if (!this.#known) {
      const reading = get<DecidedSite[]>(key, this.#state).then((sites) => sites ?? []);
      this.#known = reading;
      reading.catch(() => {
        if (this.#known === reading) this.#known = undefined;
      });
    }
    return this.#known;
  }

  /** Forgets every decision, and invalidates the tokens: forms that are open no longer decide. */
  async clear(): Promise<void> {
    this.#tokens.clear();
    await this.#changing(delMany([key, formerTokenKey], this.#state));
  }

  #change(change: (sites: DecidedSite[]) => DecidedSite[]): Promise<void> {
    return this.#changing(update<DecidedSite[]>(key, (sites = []) => change(sites), this.#state));
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
