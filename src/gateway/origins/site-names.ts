import { get, set, type UseStore } from 'idb-keyval';
import { Address } from '../../address.ts';
import { siteOrigin } from './site-host.ts';

/** Where it is remembered since when the names work, in milliseconds since 1970. */
const key = 'site-names';
const probeMs = 3_000;
/** How long the outcome of a probe holds, in milliseconds. */
const succeededForMs = 10_000;
const failedForMs = 20_000;

/**
 * Whether the host answers under `<base32>.<gateway>`, so that each site can have an origin of its own.
 *
 * A probe asks a name that nobody has used for a file that only the host of this very build has. Once the names worked they
 * count as working for ever: a failed probe must not lead scripts of a site back to the gateway's own origin.
 */
export class SiteNames {
  readonly #origin: string;
  readonly #buildHash: string;
  readonly #state: UseStore;
  #since: Promise<number | undefined> | undefined;
  #probing: Promise<boolean> | undefined;
  #probed: { succeeded: boolean; at: number } | undefined;

  /**
   * @param origin of the gateway.
   * @param buildHash hash of the build, as in the name of its probe file.
   */
  constructor(origin: string, buildHash: string, state: UseStore) {
    this.#origin = origin;
    this.#buildHash = buildHash;
    this.#state = state;
  }

  /** Whether sites can have origins of their own here. Only the first probe is waited for. */
  async work(): Promise<boolean> {
    if ((await this.since()) !== undefined) return true;
    const reaching = this.areReachable();
    return this.#probed ? this.#probed.succeeded : reaching;
  }

  /** When the names were first seen to work, in milliseconds since 1970. */
  since(): Promise<number | undefined> {
    this.#since ??= get<number>(key, this.#state).catch(() => undefined);
    return this.#since;
  }

  /** Whether the host answers under such names now: it may be down, or this device offline. */
  areReachable(): Promise<boolean> {
    const { succeeded = false, at = 0 } = this.#probed ?? {};
    if (Date.now() - at < (succeeded ? succeededForMs : failedForMs)) return Promise.resolve(succeeded);
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  async #probe(): Promise<boolean> {
    const unused = Address.fromBytes(crypto.getRandomValues(new Uint8Array(32)));
    const site = siteOrigin(unused, this.#origin);
    const succeeded = site !== undefined && (await this.#isAnswered(site));
    this.#probed = { succeeded, at: Date.now() };
    if (succeeded && (await this.since()) === undefined) {
      const now = Date.now();
      this.#since = Promise.resolve(now);
      await set(key, now, this.#state).catch((error) => console.warn('antway: not remembered', error));
    }
    return succeeded;
  }

  async #isAnswered(site: string): Promise<boolean> {
    try {
      const response = await fetch(`${site}/-/probe-${this.#buildHash}.json`, {
        cache: 'no-store',
        // A site can set cookies for the gateway's domain, more of them than a host takes.
        credentials: 'omit',
        redirect: 'error',
        signal: AbortSignal.timeout(probeMs),
      });
      return response.ok && (await response.json()).antway === this.#buildHash;
    } catch {
      return false; // no such name, no network, or another host's answer
    }
  }
}
