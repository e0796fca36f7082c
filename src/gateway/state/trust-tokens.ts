import type { Address } from '../../address.ts';

/** What a form of the gateway's question may decide. */
export interface TrustGrant {
  address: Address;
  /** The alias in the URL, when the address came through one. */
  name?: string | undefined;
  /** Where the content was when the gateway asked: not `address` when that is a pointer's. */
  content: Address;
  /** Only the confirmation can trust; the question leads there. */
  step: 'question' | 'confirmation';
}

const lifetimeMs = 15 * 60_000;
/** Any page can make the gateway ask, by navigating there. */
const maxTokens = 200;

/**
 * The tokens of open questions. They are in this worker's memory only, because a trusted page can read and write
 * everything that the browser stores for the origin. When the browser stops the worker, the gateway asks again.
 */
export class TrustTokens {
  readonly #grants = new Map<string, TrustGrant & { expiresAt: number }>();
  readonly #outdated = new Set<string>();

  /** A new token, valid once. */
  issue(grant: TrustGrant): string {
    const token = crypto.randomUUID();
    this.#grants.set(token, { ...grant, expiresAt: Date.now() + lifetimeMs });
    dropOldest(this.#grants);
    return token;
  }

  /** Uses a token up. @returns undefined for an unknown, used or expired one. */
  take(token: string): TrustGrant | undefined {
    const grant = this.#grants.get(token);
    this.#grants.delete(token);
    return grant && grant.expiresAt > Date.now() ? grant : undefined;
  }

  /** Invalidates every token: forms that are open decide nothing any more. */
  clear(): void {
    this.#grants.clear();
  }

  /** Remembers that the answer given for this path came too late, so that the next question says so. */
  noteOutdated(path: string): void {
    this.#outdated.add(path);
    dropOldest(this.#outdated);
  }

  /** Whether the question for this path is asked again. Forgets it. */
  takeOutdated(path: string): boolean {
    return this.#outdated.delete(path);
  }
}

function dropOldest(collection: { size: number; keys(): Iterator<string>; delete(key: string): boolean }) {
  if (collection.size > maxTokens) collection.delete(collection.keys().next().value!);
}
