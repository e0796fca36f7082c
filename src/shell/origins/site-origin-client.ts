import type { ListedOrigin } from '../../gateway/api/origins.ts';
import type { SiteGrant } from '../../gateway/api/site-exchange.ts';
import type { HandedRecords } from '../../gateway/origins/record-handover.ts';
import type { SiteReport } from '../../gateway/state/site-origins.ts';
import { recordsMs } from '../../site-pages/messages.ts';
import { forEachInParallel } from '../../util/parallel.ts';
import { asGatewayApiError, gateway, type ListedSite, type PinAction } from '../gateway-api.ts';
import { RecentFailures } from '../recent-failures.ts';
import {
  askSite,
  clearSite,
  parallelSites,
  persistSite,
  type SiteRequestOptions,
  startSite,
} from './site-bridge.ts';

type Background = Pick<SiteRequestOptions, 'isBackground'>;

/** The maximum number of empty origins per call of `synchronise`: web pages can open any number of them. */
const mostEmpty = 8;
/** Origins that were still loading their content when they were asked a moment ago. */
const early = new RecentFailures<true>(4_000);

/** Reports each change to the gateway's own worker, because the screens show its list of sites. */
export const siteOriginClient = {
  refresh,
  /** @returns whether the browser agreed to keep the storage. */
  async persist(address: string): Promise<boolean> {
    const isPersisted = await persistSite(address);
    await refresh(address);
    return isPersisted;
  },
  /**
   * Starts the worker of a site's origin, with the user's settings and the records that were read to view the site. Then a
   * frame of this page can show the site.
   * @returns as `HandedRecords.peers`.
   */
  async prepare(address: string): Promise<HandedRecords<Blob>['peers']> {
    const none: HandedRecords<Blob> = { records: [], peers: null };
    const [grant, { records, peers }] = await Promise.all([
      gateway.siteGrant(address),
      gateway.handedRecords(address, AbortSignal.timeout(recordsMs)).catch(() => none),
    ]);
    await giveSettings(address, grant, { records });
    return peers;
  },
  /** Starts the worker of a site that the user will probably open, so that the site then opens sooner. Never rejects. */
  async warm(address: string): Promise<void> {
    // The worker's script has more than 100 kB.
    if ((navigator as { connection?: { saveData?: boolean } }).connection?.saveData) return;
    try {
      const { opensAt } = await gateway.siteGrant(address);
      if (opensAt) await startSite(address);
    } catch {
      // The site says what is wrong when the user opens it.
    }
  },
  async pin(address: string, action: PinAction): Promise<void> {
    await askSite(address, 'pins', { method: 'POST', body: JSON.stringify({ address, action }) });
    // Do not wait: Firefox asks the user, who may take a while to answer.
    if (action === 'pin')
      siteOriginClient.persist(address).catch((error) => {
        console.warn(`antway: the origin of ${address} was not persisted:`, asGatewayApiError(error).message);
      });
    await refresh(address);
  },
  async unpin(address: string): Promise<void> {
    await askSite(address, `pins?address=${address}`, { method: 'DELETE' });
    await refresh(address);
  },
  /** Allows or forbids the scripts of a site. Open pages of the site stay unchanged. */
  async setScripts({ address, hasOwnOrigin }: ListedSite, runsScripts: boolean): Promise<void> {
    if (runsScripts) await gateway.revokeDecision(address);
    else await gateway.decide(address, 'restricted');
    if (hasOwnOrigin) await giveSettings(address, await gateway.siteGrant(address));
  },
  /** As `gateway.files`. */
  files: async (address: string): Promise<string[]> =>
    JSON.parse(await (await askSite(address, `files?address=${address}`)).text()).files,
  /** As `gateway.file`. */
  file: (address: string, path: string): Promise<Blob> =>
    askSite(address, `files?address=${address}&path=${encodeURIComponent(path)}`),
  /** As `gateway.exportSite`. */
  exportSite: (address: string, fields: readonly [string, string | Blob][] = []): Promise<Blob> =>
    askSite(address, `export?address=${address}`, { method: 'POST', body: { fields: [...fields] } }),
  /** Deletes all data of the site's origin, and removes the origin from the list. */
  async clear(address: string): Promise<void> {
    await clearSite(address);
    await gateway.removeOrigin(address);
  },
  /** @returns the addresses of the sites that did not answer. */
  async clearAll(): Promise<string[]> {
    const failed: string[] = [];
    await forEachInParallel(await gateway.origins(), parallelSites, async ({ address }) => {
      await siteOriginClient.clear(address).catch(() => failed.push(address));
    });
    return failed;
  },
  /**
   * Sends the user settings to each origin without the current settings. Copies sites that are pinned here to their own
   * origins. Asks new origins for a report of their first content, to list sites opened by a direct link.
   * @returns whether all work is done. The next call tries the rest again.
   */
  async synchronise({
    signal = new AbortController().signal,
    isBackground = false,
  }: Background & { signal?: AbortSignal } = {}): Promise<boolean> {
    let isDone = true;
    const attempt = async (address: string, work: () => Promise<unknown>) => {
      if (signal.aborted) return;
      try {
        await work();
      } catch (error) {
        isDone = false;
        console.warn(`antway: the origin of ${address} is not up to date:`, asGatewayApiError(error).message);
      }
    };
    const pins = new Set((await gateway.pins(signal)).map(({ address }) => address));
    const origins = await gateway.origins();
    const empty = origins.filter(
      ({ readyAt, report }) => readyAt !== null && (!report?.bytes.stored || awaitsVisit(report)),
    );
    const asked = new Set(empty.sort(byAge).slice(0, mostEmpty));
    for (const origin of origins.filter(({ isUnseen }) => isUnseen)) asked.add(origin);
    for (const origin of origins) if (pins.has(origin.address) && isMoving(origin)) asked.add(origin);
    await forEachInParallel(origins, parallelSites, (origin) =>
      attempt(origin.address, async () => {
        const { address, settingsId } = origin;
        const grant = await gateway.siteGrant(address);
        if (grant.settingsId !== settingsId) await giveSettings(address, grant, { isBackground });
        if (!asked.has(origin)) return;
        const isComplete = !early.get(address) && (await reportContent(origin, { isBackground }));
        if (!isComplete) isDone = false;
      }),
    );
    // Copy one site after the other, because each copy contains a whole site.
    for (const { address, report } of origins) {
      if (pins.has(address) && !report?.pin) await attempt(address, () => move(address, { isBackground }));
    }
    return isDone;
  },
};

const isMoving = ({ report }: ListedOrigin) => report?.pin && report.pin.state !== 'complete';
/** The user opened the origin by its own address, and has not seen it for long enough yet. */
const awaitsVisit = ({ pin, seenAt }: SiteReport) => !pin && (seenAt ?? null) === null;
const byAge = (a: ListedOrigin, b: ListedOrigin) => (b.readyAt ?? 0) - (a.readyAt ?? 0);

async function reportOf(address: string, options: Background): Promise<SiteReport> {
  return JSON.parse(await (await askSite(address, 'origin', options)).text());
}

async function refresh(address: string, options: Background = {}): Promise<void> {
  await gateway.reportOrigin(address, { report: await reportOf(address, options) });
}

/**
 * Does not store a report without content: each stored report makes all open shells load the list of sites again.
 * @returns whether the report is final.
 */
async function reportContent(
  { address, report: before, isUnseen }: ListedOrigin,
  options: Background,
): Promise<boolean> {
  const report = await reportOf(address, options);
  const hasContent = Boolean(report.bytes?.stored);
  const isSeen = (report.seenAt ?? null) !== (before?.seenAt ?? null);
  const isFinal =
    hasContent &&
    (isSeen || !(isUnseen || awaitsVisit(report))) &&
    (!report.pin || report.pin.state === 'complete');
  if (!isFinal) early.add(address, true);
  const isNews = isSeen || !isUnseen || !before?.bytes.stored;
  if (hasContent && isNews) await gateway.reportOrigin(address, { report });
  return isFinal;
}

async function giveSettings(
  address: string,
  { settings, settingsId, hasManifest }: SiteGrant,
  { records = [], ...options }: Background & { records?: readonly Blob[] } = {},
): Promise<void> {
  const fields: [string, string | Blob][] = [['settings', JSON.stringify(settings)]];
  for (const record of records) fields.push(['record', record]);
  // Send the manifest with the settings: once an origin has settings, its pages no longer ask for a private site's
  // manifest.
  const manifest = hasManifest && (await gateway.manifest(address).catch(() => null));
  if (manifest) fields.push(['manifest', manifest]);
  await askSite(address, 'origin', { ...options, method: 'PUT', body: { fields } });
  await gateway.reportOrigin(address, { settingsId });
}

/** Copies a pinned site to its own origin. The pin here stays: it serves the site if `isolation` becomes `path`. */
async function move(address: string, options: Background): Promise<void> {
  const file = await gateway.exportSite(address);
  await askSite(address, 'import', { ...options, method: 'POST', body: file });
  await refresh(address);
}
