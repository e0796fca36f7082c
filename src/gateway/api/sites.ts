import { Address } from '../../address.ts';
import type { Site } from '../../library/library.ts';
import { parseVisit } from '../../library/visits.ts';
import { addressIn, jsonOf } from './body.ts';
import type { Endpoint } from './endpoint.ts';
import { listed } from './storage.ts';

export const sites: Endpoint = {
  async GET(_url, _request, { library, origins, trust }) {
    const [sites, known, decisions] = await Promise.all([
      listed(library.list()),
      listed(origins.list()),
      trust.list().catch(() => []),
    ]);
    const ready = new Map(
      known.filter(({ readyAt }) => readyAt !== null).map((each) => [each.address, each]),
    );
    const restricted = new Set(
      decisions.filter(({ decision }) => decision === 'restricted').map(({ address }) => address),
    );
    const withOrigin = (site: Site) => {
      const origin = ready.get(site.address);
      const { chunks, bytes, pin = null, offline = false, persisted = null } = origin?.report ?? {};
      const stored = chunks && bytes && { chunks, bytes, offline, pin: pin ?? site.pin };
      const isWithoutScripts = restricted.has(site.address);
      return { ...site, ...stored, hasOwnOrigin: origin !== undefined, isWithoutScripts, persisted };
    };
    return { sites: sites.map(withOrigin) };
  },
  async DELETE(url, _, { library, manifests, resolver, recentFiles }) {
    const address = addressIn(url);
    await recentFiles.remove(address.hex);
    if (await library.forget(address)) return;
    await manifests.remove(address);
    resolver.forget(address);
  },
};

/** `/-/visits`: the times at which the user opened sites. */
export const visits: Endpoint = {
  async POST(_, request, { library }) {
    const visit = parseVisit(await jsonOf(request));
    const before = await library.visits.get(Address.fromHex(visit.address));
    if (!before) return library.visited(visit);
    // Security: of a listed site, another library may change the time only, and not where the entry leads.
    const { lastOpened } = visit;
    if ((before.lastOpened ?? 0) < (lastOpened ?? 0)) await library.visited({ ...before, lastOpened });
  },
  async DELETE(url, _, { library, recentFiles }) {
    const address = addressIn(url);
    await recentFiles.remove(address.hex);
    await library.forgetVisit(address);
  },
};
