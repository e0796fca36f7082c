import type { Mode } from './http/policy.ts';
import { type SiteHost, siteOfHost } from './origins/site-host.ts';

/** How a gateway is hosted. Constant for a worker. `deploymentAt` and `embeddedAt` create it. */
export interface Deployment {
  readonly origin: string;
  /** The path at which the gateway's URLs begin, with a slash at both ends. */
  readonly base: string;
  readonly workerPath: string;
  /** Set if this is a site's own origin. */
  readonly site: SiteHost | undefined;
  readonly mode: Mode;
  /** The authority over scripts of addresses: the user, the user's settings for this site, or the server config. */
  readonly trust: 'user' | 'site-settings' | 'server-config';
  readonly recordsVisits: boolean;
  /** Whether the shell is on this origin. Then it has a viewer, and the names below this origin belong to sites. */
  readonly hasShell: boolean;
  /**
   * Whether the whole origin belongs to the gateway. Otherwise the site that embeds it decides about headers that affect
   * the origin, about links in documents, and about what users see while content loads.
   */
  readonly ownsOrigin: boolean;
  /** Paths of the gateway's own documents that may use `/-/…`. Undefined if all pages except content may use it. */
  readonly trustedPages: ReadonlySet<string> | undefined;
}

/** The gateway's own documents that other pages may frame. Their policies name the allowed parents. */
export const framablePages: ReadonlySet<string> = new Set(['/-/bridge', '/-/root']);

/** The origin of the gateway, also for the origin of a site below it. */
export function gatewayOrigin({ origin, site }: Pick<Deployment, 'origin' | 'site'>): string {
  return site ? `${new URL(origin).protocol}//${site.rootHost}` : origin;
}

const workerScript = '/sw.js';

/** @param origin the gateway's own origin, or the origin of a site below it. */
export function deploymentAt(origin: string, workerPath = workerScript): Deployment {
  const site = siteOfHost(new URL(origin).host);
  const common = { origin, base: '/', workerPath, site, ownsOrigin: true };
  return site
    ? {
        ...common,
        hasShell: false,
        mode: 'own-origin',
        trust: 'site-settings',
        recordsVisits: false,
        trustedPages: new Set(['/-/bridge', '/-/site']),
      }
    : {
        ...common,
        hasShell: true,
        mode: 'path',
        trust: 'user',
        recordsVisits: true,
        trustedPages: new Set(['/', '/index.html', '/-/root', '/-/move']),
      };
}

/**
 * @param base the path of the gateway on the embedding site, such as `/ant/`. The site decides about all other paths.
 */
export function embeddedAt(origin: string, base: string, workerPath: string): Deployment {
  return {
    origin,
    base,
    workerPath,
    site: undefined,
    mode: 'embedded',
    trust: 'server-config',
    recordsVisits: false,
    hasShell: false,
    ownsOrigin: false,
    trustedPages: undefined,
  };
}
