import type { Address } from '../../address.ts';
import type { Config } from '../../config.ts';
import type { Deployment } from '../deployment.ts';
import { asDataHeader, isOfProgressPage } from '../http/script-request.ts';
import { type ContentTarget, foreignPrefix } from '../http/target.ts';
import type { LinkTargets } from './link-map.ts';

/**
 * Returns where the links of a document lead, or undefined if the request gets the original bytes: a range, a response
 * whose hash the browser compares, data for a script that says so, and everything on a site that embeds the gateway.
 */
export function linkTargetsOf(
  request: Request,
  document: Pick<ContentTarget, 'address' | 'root'>,
  { ownsOrigin, origin, base, site }: Pick<Deployment, 'ownsOrigin' | 'origin' | 'base' | 'site'>,
  { names }: Pick<Config, 'names'>,
): LinkTargets | undefined {
  const { headers, integrity } = request;
  const isData = headers.has(asDataHeader) && !isOfProgressPage(request);
  if (!ownsOrigin || headers.has('Range') || integrity || isData) return undefined;
  const { protocol } = new URL(origin);
  return {
    urlOf(named, isNavigation) {
      const isAddress = /^[0-9a-f]{64}$/.test(named);
      const hex = isAddress ? named : names.get(named)?.hex;
      if (hex === undefined) return undefined;
      // On the document's own path its policy allows its own files. An origin in front keeps `//` in a path a path.
      if (hex === document.address.hex) return document.root || origin;
      if (!site) return base + named;
      // The gateway decides which origin shows a site. Files that the page loads must come through its own worker.
      return isNavigation ? `${protocol}//${site.rootHost}/${named}` : `${foreignPrefix}${named}`;
    },
    version: names.size > 0 ? `-${digestOf(names)}` : '',
  };
}

/** A short digest (FNV-1a). A collision only keeps an outdated link in a cache. */
function digestOf(names: ReadonlyMap<string, Address>): string {
  let digest = 0x811c9dc5;
  for (const character of [...names].join()) {
    digest = Math.imul(digest ^ character.charCodeAt(0), 0x01000193);
  }
  return (digest >>> 0).toString(36);
}
