import { del, get, type UseStore, update } from 'idb-keyval';
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
  /** The trust is bound to this content, because a pointer can lead to other content later. Undefined: all content. */
  content?: string;
  /** Set if the user trusts all content that the pointer's owner publishes. */
  allVersions?: true;
}

/** Undefined if the user has not decided about this content. */
export type DecisionFor = (content: Address) => Decision | undefined;

const key = 'trust';

/** The user's decision about each site. The server config decides about sites without a user decision. */
export class Trust {
  readonly #configured: Config['trusted'];
  readonly #state: UseStore;
  readonly #tokens: TrustTokens;
  /** A cache, because every request reads the decisions. Only the object of the current configuration changes them. */
  #known: Promise<DecidedSite[]> | undefined;

  /** @param tokens tokens of open questions, which a decision invalidates. */
  constructor(configured: Config['trusted'], state: UseStore, tokens: TrustTokens) {
    this.#configured = configured;
    this.#state = state;
    this.#tokens = tokens;
  }

  /** If storage is blocked, rejects unless the server config trusts the address: the gateway cannot ask the user. */
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

  /** Invalidates the tokens of all open questions. @param content null for all versions of a pointer. */
  async decide(address: Address, decision: Decision, content: Address | null): Promise<void> {
    this.#tokens.clear();
    const site: DecidedSite = { address: address.hex, decision, decidedAt: Date.now() };
    if (decision === 'trusted') {
      if (content) site.content = content.hex;
      else site.allVersions = true;
    }
    await this.#change((sites) => [site, ...sites.filter((other) => other.address !== site.address)]);
  }

  /** The gateway asks the user again at the next visit. */
  async revoke(address: Address): Promise<void> {
    this.#tokens.clear();
    await this.#change((sites) => sites.filter((site) => site.address !== address.hex));
  }

  /** Newest first. */
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

  /** Also invalidates the tokens, so that open forms cannot decide any more. */
  async clear(): Promise<void> {
    this.#tokens.clear();
    await this.#changing(del(key, this.#state));
  }

  #change(change: (sites: DecidedSite[]) => DecidedSite[]): Promise<void> {
    return this.#changing(update<DecidedSite[]>(key, (sites = []) => change(sites), this.#state));
  }

  /** Clears the cache after the change, because a read before its end may have cached old decisions. */
  async #changing(change: Promise<void>): Promise<void> {
    try {
      await change;
    } finally {
      this.#known = undefined;
    }
  }
}
