import type { SiteGrant } from '../gateway/api/site-exchange.ts';
import type { SiteOrigin, SiteReport } from '../gateway/state/site-origins.ts';
import { asGatewayApiError, gateway, type ListedSite, type PinAction } from './gateway-api.ts';
import { forEachInParallel } from './parallel.ts';
import { RecentFailures } from './recent-failures.ts';
import { type AskOptions, askSite, clearSite, parallelSites, persistSite } from './site-bridge.ts';

type Background = Pick<AskOptions, 'isBackground'>;

/** Origins without content that are asked in one call: pages of the web can open any number of them. */
const mostEmpty = 8;
/** Origins that were asked a moment ago, and were still being read. */
const early = new RecentFailures<true>(4_000);

/**
 * What the shell does with sites that have an origin of their own, by their bridges. Each change is reported to the
 * gateway's own worker, whose list of sites the screens show.
 */
export const ownOrigins = {
  /** Has a site's origin say anew what it stores. */
  refresh,
  /** Asks the browser not to clear a site's origin. @returns whether it agreed. */
  async persist(address: string): Promise<boolean> {
    const isPersisted = await persistSite(address);
    await refresh(address);
    return isPersisted;
  },
  async pin(address: string, action: PinAction): Promise<void> {
    await askSite(address, 'pins', { method: 'POST', body: JSON.stringify({ address, action }) });
    // Firefox asks the user, who may take a while to answer.
    if (action === 'pin')
      ownOrigins.persist(address).catch((error) => {
        console.warn(`antway: the origin of ${address} was not persisted:`, asGatewayApiError(error).message);
      });
    await refresh(address);
  },
  async unpin(address: string): Promise<void> {
    await askSite(address, `pins?address=${address}`, { method: 'DELETE' });
    await refresh(address);
  },
  /** Lets a site run its scripts, or has it opened without. What is open already stays as it is. */
  async setScripts({ address, hasOwnOrigin }: ListedSite, runsScripts: boolean): Promise<void> {
    if (runsScripts) await gateway.revokeDecision(address);
    else await gateway.decide(address, 'restricted');
    if (hasOwnOrigin) await giveSettings(address, await gateway.siteGrant(address));
  },
  exportSite: (address: string): Promise<Blob> => askSite(address, `export?address=${address}`),
  /** Deletes all that the site's origin stores, and forgets the origin. */
  async clear(address: string): Promise<void> {
    await clearSite(address);
    await gateway.removeOrigin(address);
  },
  /** For a reset: clears every origin of a site. @returns the addresses of those that did not answer. */
  async clearAll(): Promise<string[]> {
    const failed: string[] = [];
    await forEachInParallel(await gateway.origins(), parallelSites, async ({ address }) => {
      await ownOrigins.clear(address).catch(() => failed.push(address));
    });
    return failed;
  },
  /**
   * Gives the user's settings to the origins that do not have them yet, moves what is pinned here to the site's origin, and
   * has origins report their first content: then those that were opened by a direct link are listed.
   * @returns whether all is done. What is not is tried again at the next call.
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
    const empty = origins.filter(({ readyAt, report }) => readyAt !== null && !report?.bytes.stored);
    const asked = new Set(empty.sort(byAge).slice(0, mostEmpty));
    for (const origin of origins) if (pins.has(origin.address) && isMoving(origin)) asked.add(origin);
    await forEachInParallel(origins, parallelSites, (origin) =>
      attempt(origin.address, async () => {
        const { address, settingsId } = origin;
        const grant = await gateway.siteGrant(address);
        if (grant.settingsId !== settingsId) await giveSettings(address, grant, { isBackground });
        if (!asked.has(origin)) return;
        const isComplete = !early.get(address) && (await reportContent(address, { isBackground }));
        if (!isComplete) isDone = false;
      }),
    );
    // One after another: each is a copy of a whole site.
    for (const { address, report } of origins) {
      if (pins.has(address) && !report?.pin) await attempt(address, () => move(address, { isBackground }));
    }
    return isDone;
  },
};

const isMoving = ({ report }: SiteOrigin) => report?.pin && report.pin.state !== 'complete';
const byAge = (a: SiteOrigin, b: SiteOrigin) => (b.readyAt ?? 0) - (a.readyAt ?? 0);

async function reportOf(address: string, options: Background): Promise<SiteReport> {
  return JSON.parse(await (await askSite(address, 'origin', options)).text());
}

async function refresh(address: string, options: Background = {}): Promise<void> {
  await gateway.reportOrigin(address, { report: await reportOf(address, options) });
}

/** Reports nothing before there is content: each report has all shells read the list of sites anew. @returns whether it is final. */
async function reportContent(address: string, options: Background): Promise<boolean> {
  const report = await reportOf(address, options);
  const hasContent = Boolean(report.bytes?.stored);
  const isFinal = hasContent && (!report.pin || report.pin.state === 'complete');
  if (!isFinal) early.add(address, true);
  if (hasContent) await gateway.reportOrigin(address, { report });
  return isFinal;
}

async function giveSettings(
  address: string,
  { settings, settingsId, hasManifest }: SiteGrant,
  options: Background = {},
): Promise<void> {
  const fields: [string, string | Blob][] = [['settings', JSON.stringify(settings)]];
  // With the settings: once an origin has these, its pages no longer ask for the manifest of a private site.
  if (hasManifest) fields.push(['manifest', await gateway.manifest(address)]);
  await askSite(address, 'origin', { ...options, method: 'PUT', body: { fields } });
  await gateway.reportOrigin(address, { settingsId });
}

/** Copies a pinned site to its own origin. The pin here stays: an earlier version of the gateway still finds it. */
async function move(address: string, options: Background): Promise<void> {
  const file = await gateway.exportSite(address);
  await askSite(address, 'import', { ...options, method: 'POST', body: file });
  await refresh(address);
}
