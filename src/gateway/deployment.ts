import type { Mode } from './http/policy.ts';
import { type SiteHost, siteOfHost } from './origins/site-host.ts';

/** How a gateway is hosted. One value for the life of a worker; `app`, `site` and `embedded` make it. */
export interface Deployment {
  /** The gateway's own origin with its shell, the origin of one site below it, or a part of another site's origin. */
  readonly kind: 'app' | 'site' | 'embedded';
  /** Origin of the gateway's URLs. */
  readonly origin: string;
  /** Path that the gateway's URLs begin with, a slash at both ends. */
  readonly base: string;
  /** Path of the worker's script. */
  readonly workerPath: string;
  /** On a site's own origin: that site. */
  readonly site: SiteHost | undefined;
  /** How content shares the origin, as far as policies are concerned. */
  readonly mode: Mode;
  /** Who decides which addresses run scripts: the user, the user's settings for this one site, or the server's configuration. */
  readonly trust: 'user' | 'site-settings' | 'server-config';
  /** Whether it is noted which sites were opened. */
  readonly recordsVisits: boolean;
  /** Whether headers may say things that concern the whole origin: which windows it shares, and its process. */
  readonly ownsOrigin: boolean;
  /** Paths of the gateway's own documents that may use `/-/…`; undefined where every page that is no content may. */
  readonly trustedPages: ReadonlySet<string> | undefined;
}

/** Those of the gateway's own documents that are there to be framed, by whom their policies say. */
export const framedPages: ReadonlySet<string> = new Set(['/-/bridge', '/-/root']);

const workerScript = '/sw.js';

/** @param origin of the worker: the gateway's own, or that of a site below it. */
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

/** @param base path below which another site has the gateway, such as `/ant/`. That site decides everything else. */
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
