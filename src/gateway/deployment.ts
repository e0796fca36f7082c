import type { Mode } from './http/policy.ts';
import { type SiteHost, siteOfHost } from './origins/site-host.ts';

/** How a gateway is hosted. A worker has one value for its whole life. `deploymentAt` and `embeddedAt` create it. */
export interface Deployment {
  /**
   * `app`: the gateway's own origin with the shell. `site`: the origin of one site. `embedded`: a part of another
   * site's origin.
   */
  readonly kind: 'app' | 'site' | 'embedded';
  /** The origin of the gateway's URLs. */
  readonly origin: string;
  /** The path at which the gateway's URLs begin, with a slash at both ends. */
  readonly base: string;
  /** The path of the worker's script. */
  readonly workerPath: string;
  /** The site, if this is a site's own origin. */
  readonly site: SiteHost | undefined;
  /** How content shares the origin. The policies depend on it. */
  readonly mode: Mode;
  /** The authority over scripts of addresses: the user, the user's settings for this site, or the server config. */
  readonly trust: 'user' | 'site-settings' | 'server-config';
  /** Whether the gateway stores visits. */
  readonly recordsVisits: boolean;
  /**
   * Whether responses may set headers that affect the whole origin, such as the opener policy and the agent cluster.
   */
  readonly ownsOrigin: boolean;
  /** Paths of the gateway's own documents that may use `/-/…`. Undefined if all pages except content may use it. */
  readonly trustedPages: ReadonlySet<string> | undefined;
}

/** The gateway's own documents that other pages may frame. Their policies name the allowed parents. */
export const framedPages: ReadonlySet<string> = new Set(['/-/bridge', '/-/root']);

const workerScript = '/sw.js';

/**
 * Returns the deployment for a worker's origin.
 * @param origin origin of the worker: the gateway's own origin, or the origin of a site below it.
 */
export function deploymentAt(origin: string, workerPath = workerScript): Deployment {
  const site = siteOfHost(new URL(origin).host);
  const common = { origin, base: '/', workerPath, site, ownsOrigin: true };
  return site
    ? {
        ...common,
        kind: 'site',
        mode: 'own-origin',
        trust: 'site-settings',
        recordsVisits: false,
        trustedPages: new Set(['/-/bridge', '/-/site']),
      }
    : {
        ...common,
        kind: 'app',
        mode: 'path',
        trust: 'user',
        recordsVisits: true,
        trustedPages: new Set(['/', '/index.html', '/-/root', '/-/move']),
      };
}

/**
 * Returns the deployment of a gateway that another site embeds.
 * @param base the path of the gateway on that site, such as `/ant/`. The site decides about all other paths.
 */
export function embeddedAt(origin: string, base: string, workerPath: string): Deployment {
  return {
    kind: 'embedded',
    origin,
    base,
    workerPath,
    site: undefined,
    mode: 'embedded',
    trust: 'server-config',
    recordsVisits: false,
    ownsOrigin: false,
    trustedPages: undefined,
  };
}
