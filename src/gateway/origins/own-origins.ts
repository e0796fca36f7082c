import type { Address } from '../../address.ts';
import type { Library } from '../../library/library.ts';
import type { SiteOrigins } from '../state/site-origins.ts';
import type { Trust } from '../state/trust.ts';
import { siteOrigin } from './site-host.ts';
import type { WildcardHosts } from './wildcard-hosts.ts';

export interface OwnOriginsOptions {
  origin: string;
  wildcardHosts: WildcardHosts;
  origins: SiteOrigins;
  library: Library;
  manifests: { has(id: Address): Promise<boolean> };
  trust: Trust;
}

/** On the gateway's own origin: decides which sites open on their own origins. */
export class OwnOrigins {
  readonly #options: OwnOriginsOptions;

  constructor(options: OwnOriginsOptions) {
    this.#options = options;
  }

  areAvailable(): Promise<boolean> {
    return this.#options.wildcardHosts.areAvailable();
  }

  /** Starts the probe for wildcard hosts, so that `of` does not wait for it once the content is known. */
  warm(): void {
    this.#options.wildcardHosts.warm();
  }

  /**
   * Returns the origin of a site that has moved: its worker runs there, with all pinned data. Works without a network.
   */
  async moved(address: Address): Promise<string | undefined> {
    const { origin, origins, library } = this.#options;
    const known = await origins.get(address).catch(() => undefined);
    if (known?.readyAt == null) return undefined;
    if (known.report?.pin?.state !== 'complete' && (await library.pins.has(address))) return undefined;
    return siteOrigin(address, origin);
  }

  /**
   * Returns the origin on which a document of a site should open.
   * @returns undefined if it should open here: the host has no wildcard names, or is unreachable, or the site has not moved
   *   yet.
   */
  async of(address: Address): Promise<string | undefined> {
    const { origin, wildcardHosts, library } = this.#options;
    if (!(await wildcardHosts.areAvailable())) return undefined;
    const moved = await this.moved(address);
    if (moved) return moved;
    if (await this.#isOutOfReach(address)) return undefined;
    const waits = (await this.isTrustedFromBefore(address)) && (await library.pins.has(address));
    return !waits && (await wildcardHosts.areReachable()) ? siteOrigin(address, origin) : undefined;
  }

  /**
   * Whether the origin of a private site cannot get the site's manifest, because the browser partitions the frame that
   * transfers it. Browsers do this below bare `localhost`, and if the site's origin was opened before and did not reach
   * the gateway's origin.
   */
  async #isOutOfReach(address: Address): Promise<boolean> {
    const { origin, origins, manifests } = this.#options;
    if (!(await manifests.has(address))) return false;
    const known = await origins.get(address).catch(() => undefined);
    if (new URL(origin).hostname === 'localhost' || known?.readyAt === null) return true;
    if (!known) await origins.put(address, {}).catch(() => undefined);
    return false;
  }

  /**
   * Whether the user trusted a site before sites had their own origins, and the site has not moved yet. Such a site
   * still runs its scripts here, so that everything that worked offline continues to work.
   */
  async isTrustedFromBefore(address: Address): Promise<boolean> {
    const { wildcardHosts, trust } = this.#options;
    const since = await wildcardHosts.since();
    const decisions = await trust.list().catch(() => []);
    const wasTrusted = decisions.some(
      ({ address: hex, decision, decidedAt }) =>
        hex === address.hex && decision === 'trusted' && (since === undefined || decidedAt < since),
    );
    return wasTrusted && (await this.moved(address)) === undefined;
  }
}
