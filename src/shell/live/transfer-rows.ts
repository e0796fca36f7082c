import type { TransferReport } from '../../stats/transfers.ts';
import { replaceDisruptive } from '../../util/sanitize-text.ts';
import { decodePath } from '../format.ts';
import type { ListedSite } from '../gateway-api.ts';
import { titleOf } from '../site-title.ts';

export interface TransferRow {
  key: string;
  /** The file's name, or the site's title for its start page. */
  name: string;
  /** The site's title; null for a file without a site, and if `name` is the title. */
  site: string | null;
  state: TransferReport['state'];
  size: number | null;
  sent: number;
  /** 0 to 1; null before the size is known. */
  share: number | null;
  /** Bytes per second: of a running transfer at this time, of an ended transfer on average. */
  rate: number;
  /** Null if it cannot be told. */
  secondsLeft: number | null;
  chunks: TransferReport['chunks'];
}

/** The transfers of one origin. */
export interface TransfersOf {
  /** Of a site's own origin. Null for the gateway's own origin. */
  site: ListedSite | null;
  transfers: readonly TransferReport[];
  /** The clock of the worker, in milliseconds since 1970. */
  now: number;
}

/** The measurement of a transfer that `transferRows` needs for the next report. */
export interface Measured {
  sent: number;
  at: number;
  rate: number;
}

/** The weight of the newest measurement. Pages read in bursts, so one measurement says little. */
const newestWeight = 0.5;
/** Below this rate, in bytes per second, the remaining time says nothing. */
const leastRate = 1_000;
const longestLeftSeconds = 24 * 3600;

/**
 * @param before of the last call; it is not changed.
 * @returns running transfers first.
 */
export function transferRows(
  origins: readonly TransfersOf[],
  sites: readonly ListedSite[],
  before: ReadonlyMap<string, Measured>,
): { rows: TransferRow[]; measured: Map<string, Measured> } {
  const measured = new Map<string, Measured>();
  const rows = origins.flatMap(({ site, transfers, now }) =>
    transfers.map((transfer): TransferRow => {
      const { id, state, size, sent, startedAt, endedAt, chunks } = transfer;
      // A new worker counts its transfers from 1 again.
      const key = `${site?.address ?? ''}/${startedAt}/${id}`;
      const rate =
        endedAt === null
          ? runningRate(before.get(key), { sent, at: now, startedAt })
          : (sent * 1000) / Math.max(endedAt - startedAt, 1);
      if (endedAt === null) measured.set(key, { sent, at: now, rate });
      const left = size === null ? null : Math.max(0, size - sent);
      const secondsLeft = left === null || state !== 'active' || rate < leastRate ? null : left / rate;
      return {
        ...namesOf(transfer.path, site, sites),
        ...{ key, state, size, sent, rate, chunks },
        share: size ? Math.min(1, sent / size) : null,
        secondsLeft: secondsLeft !== null && secondsLeft > longestLeftSeconds ? null : secondsLeft,
      };
    }),
  );
  return { rows: rows.toSorted((a, b) => order(a) - order(b)), measured };
}

const order = ({ state }: TransferRow) => (state === 'active' ? 0 : 1);

function runningRate(
  last: Measured | undefined,
  next: { sent: number; at: number; startedAt: number },
): number {
  const { sent, at, startedAt } = next;
  if (!last) return (sent * 1000) / Math.max(at - startedAt, 1000);
  if (at <= last.at) return last.rate;
  const newest = (Math.max(0, sent - last.sent) * 1000) / (at - last.at);
  return newestWeight * newest + (1 - newestWeight) * last.rate;
}

function namesOf(path: string, own: ListedSite | null, sites: readonly ListedSite[]) {
  const [first = '', ...rest] = path.replace(/^\//, '').split('/');
  const site = own ?? sites.find((each) => isAt(each, first)) ?? null;
  const inside = own ? [first, ...rest] : rest;
  const title = site && clean(titleOf(site));
  const file = clean(decodePath(inside.findLast((part) => part !== '') ?? ''));
  const isStart = file === '' || /^index\.html?$/i.test(file);
  if (isStart) return { name: title ?? clean(decodePath(first)), site: null };
  return { name: file, site: title };
}

function isAt({ address, path }: ListedSite, first: string): boolean {
  return address === first || path.split('/')[1] === first;
}

/** Removes characters that turn the direction of the text around or break its line. */
function clean(text: string): string {
  return replaceDisruptive(text, '').slice(0, 200);
}
