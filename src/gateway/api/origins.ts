import * as v from 'valibot';
import { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import * as s from '../../schema.ts';
import type { Deployment } from '../deployment.ts';
import { apiHeaders } from '../http/policy.ts';
import type { SiteHost } from '../origins/site-host.ts';
import { type SiteOrigin, siteReportSchema } from '../state/site-origins.ts';
import { addressIn, addressText, bodyOf } from './body.ts';
import type { Endpoint } from './endpoint.ts';
import { receiveSettings, type SiteGrant, settingsForSite } from './site-exchange.ts';
import { browserStorage, listed } from './storage.ts';

const originOfSite = s.object({ address: addressText });
const originChange = s.object({
  address: addressText,
  report: v.optional(siteReportSchema),
  settingsId: v.optional(v.string()),
});

/** `isUnseen`: whether a visit counts once the user has seen the site. */
export type ListedOrigin = SiteOrigin & { isUnseen: boolean };

/** The reply to a request with an address. */
export interface OriginAnswer extends SiteGrant {
  /** The origin on which a document of this site opens. Null if that is the gateway's own origin. */
  opensAt: string | null;
}

/** `/-/origins`, on the gateway's own origin: the origins of sites. */
export const origins: Endpoint = {
  async GET(url, _request, context): Promise<OriginAnswer | { origins: ListedOrigin[] }> {
    if (!url.searchParams.has('address')) {
      const unseen = await listed(context.library.visits.listUnseen());
      const isUnseen = ({ address }: SiteOrigin) => unseen.some(({ opened }) => opened === address);
      const origins = await listed(context.origins.list());
      return { origins: origins.map((origin) => ({ ...origin, isUnseen: isUnseen(origin) })) };
    }
    const address = addressIn(url);
    const opensAt = (await context.ownOrigins?.of(address)) ?? null;
    return { ...(await settingsForSite(address, context)), opensAt };
  },
  async POST(_, request, context) {
    const { address } = await bodyOf(request, originOfSite);
    const { origins } = context;
    if (!(await origins.get(address).catch(() => undefined))) {
      await origins.put(address, {}).catch(() => undefined);
    }
    return settingsForSite(address, context);
  },
  async PUT(_, request, { origins, library, broadcast, limitStore, local, recentFiles }) {
    const { address, ...change } = await bodyOf(request, originChange);
    const { report } = change;
    const known = await origins.get(address);
    const readyAt = known?.readyAt ?? Date.now();
    await origins.put(address, { readyAt, ...change });
    if (report) await limitStore();
    const seenAt = report?.seenAt ?? 0;
    const unseen = seenAt && (await library.visits.takeUnseen(address, seenAt));
    // The title comes from the gateway's own origin, which has read it. A site cannot change it by a report.
    if (unseen) {
      await library.visited(unseen);
      const found = await local.locate(Address.fromHex(unseen.address)).catch(() => undefined);
      if (found) await recentFiles.note(unseen.address, found.content);
    }
    // Without a visit, the user opened the site's origin directly. Any page can open the origin of any address, so the
    // library lists such a site only when its origin stores content that the user saw.
    const isNew = report?.bytes.stored && seenAt > (known?.report?.seenAt ?? 0);
    if (isNew && !unseen && !(await library.visits.get(address))) {
      const { hex } = address;
      const visit = { address: hex, path: `/${hex}/`, name: null, title: null, icon: null };
      await library.visits.add({ ...visit, kind: 'archive', lastOpened: readyAt });
    }
    broadcast.announce('visits');
  },
  async DELETE(url, _, { origins, broadcast }) {
    await origins.remove(addressIn(url));
    broadcast.announce('visits');
  },
};

/**
 * `/-/handed-records`, on the gateway's own origin: the records that it read to open a site. The answer is a form with a part
 * `record` for each, and, if peers gave some, their URLs in `peers`, as JSON. A record can have four megabytes, too many
 * for JSON.
 */
export const handedRecords: Endpoint = {
  async POST(_, request, { recordHandover, store }) {
    const { address } = await bodyOf(request, originOfSite);
    const form = new FormData();
    const { records, peers } = await recordHandover.take(address, store);
    for (const bytes of records) form.append('record', new Blob([bytes]));
    if (peers) form.set('peers', JSON.stringify(peers));
    return new Response(form, { headers: apiHeaders() });
  },
};

/** `/-/origin`, on a site's own origin: the data that is stored there. */
export const origin: Endpoint = {
  async GET(_url, _request, { library, store, deployment }) {
    const { address } = siteOf(deployment);
    const [storedState, { bytes }, { persisted }, seenAt] = await Promise.all([
      library.storedState(address),
      store.summary(),
      browserStorage(),
      library.visits.seenAt().catch(() => null),
    ]);
    return { address: address.hex, ...storedState, storedBytes: bytes, persisted, seenAt };
  },
  PUT: (_url, request, context) => receiveSettings(siteOf(context.deployment).address, request, context),
};

/** @throws AntwayError `NOT_FOUND` on the gateway's own origin. */
function siteOf({ site }: Deployment): SiteHost {
  if (site) return site;
  throw new AntwayError('NOT_FOUND', 'There is no endpoint /-/origin on the gateway’s own origin.');
}
