import { get, set, type UseStore } from 'idb-keyval';
import { Address } from '../../address.ts';
import { siteOrigin } from './site-host.ts';

/**
 * The key of the time since which the names work, in milliseconds since 1970. Security: a browser that forgets the time
 * counts older decisions as those for the gateway's own origin, so the key must not change.
 */
const key = 'site-names';
const probeMs = 3_000;
/** How long the result of a probe is valid. */
const succeededForMs = 10_000;
const failedForMs = 20_000;

/**
 * Finds out whether the host responds to `<base32>.<gateway>`, so that each site can have its own origin. A probe
 * requests a file from a random, unused name. Only a host of exactly this build has that file. After the first success
 * the names count as working forever: otherwise a failed probe could make scripts of a site run on the gateway's own
 * origin again.
 */
export class WildcardHosts {
  readonly #origin: string;
  readonly #buildHash: string;
  readonly #state: UseStore;
  #since: Promise<number | undefined> | undefined;
  #probing: Promise<boolean> | undefined;
  #probed: { succeeded: boolean; at: number } | undefined;

  /** @param buildHash part of the probe file's name. */
  constructor(origin: string, buildHash: string, state: UseStore) {
    this.#origin = origin;
    this.#buildHash = buildHash;
    this.#state = state;
  }

  /** Whether sites can have their own origins here. Waits only for the first probe. */
  async areAvailable(): Promise<boolean> {
    if ((await this.since()) !== undefined) return true;
    const reaching = this.areReachable();
    return this.#probed ? this.#probed.succeeded : reaching;
  }

  /** Returns the time at which the names first worked, in milliseconds since 1970. */
  since(): Promise<number | undefined> {
    this.#since ??= get<number>(key, this.#state).catch(() => undefined);
    return this.#since;
  }

  /** Whether the host responds to such names now. The host may be down, or this device may be offline. */
  async areReachable(): Promise<boolean> {
    return (await this.#reach()) || this.#reach();
  }

  /** Begins a probe for `areReachable`. If it fails, such as because the link is busy, `areReachable` probes anew. */
  warm(): void {
    void this.#reach().then((succeeded) => {
      if (!succeeded) this.#probed = undefined;
    });
  }

  /** Joins a probe that is under way. Otherwise returns the last result, or probes if it is too old. */
  #reach(): Promise<boolean> {
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
        // A site can set cookies for the gateway's domain, and a host rejects a request with too many cookies.
        credentials: 'omit',
        redirect: 'error',
        signal: AbortSignal.timeout(probeMs),
      });
      return response.ok && (await response.json()).antway === this.#buildHash;
    } catch {
      return false; // the name does not exist, there is no network, or another host responded
    }
  }
}
