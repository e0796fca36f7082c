import type { Address } from '../../address.ts';

/** The decision that a form of the trust question may make. */
export interface TrustGrant {
  address: Address;
  name?: string | undefined;
  /** The address of the content when the gateway asked. Differs from `address` for a pointer. */
  content: Address;
  /** Only the confirmation can trust a site. The question leads to the confirmation. */
  step: 'question' | 'confirmation';
}

const lifetimeMs = 15 * 60_000;
/** Any page can make the gateway ask, by a navigation. */
const maxTokens = 200;

/**
 * The tokens of open trust questions. They exist only in this worker's memory, because a trusted page can read and
 * write all data that the browser stores for the origin. If the browser stops the worker, the gateway asks again.
 */
export class TrustTokens {
  readonly #grants = new Map<string, TrustGrant & { expiresAt: number }>();
  readonly #outdated = new Set<string>();

  /** Creates a token that is valid once. */
  issue(grant: TrustGrant): string {
    const token = crypto.randomUUID();
    this.#grants.set(token, { ...grant, expiresAt: Date.now() + lifetimeMs });
    dropOldest(this.#grants);
    return token;
  }

  /** Consumes a token. @returns undefined for an unknown, used or expired token. */
  take(token: string): TrustGrant | undefined {
    const grant = this.#grants.get(token);
    this.#grants.delete(token);
    return grant && grant.expiresAt > Date.now() ? grant : undefined;
  }

  clear(): void {
    this.#grants.clear();
  }

  /** A form for this path had an expired token: the next question says so. */
  noteOutdated(path: string): void {
    this.#outdated.add(path);
    dropOldest(this.#outdated);
  }

  takeOutdated(path: string): boolean {
    return this.#outdated.delete(path);
  }
}

function dropOldest(collection: { size: number; keys(): Iterator<string>; delete(key: string): boolean }) {
  if (collection.size > maxTokens) collection.delete(collection.keys().next().value!);
}
