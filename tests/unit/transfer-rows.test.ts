import { describe, expect, it } from 'vitest';
import type { ActivityReport } from '../../src/gateway/api/activity.ts';
import type { ListedSite } from '../../src/shell/gateway-api.ts';
import { siteActivity } from '../../src/shell/live/site-activity.ts';
import { transferRows } from '../../src/shell/live/transfer-rows.ts';
import { noCounts } from '../../src/stats/activity.ts';
import type { TransferReport } from '../../src/stats/transfers.ts';

const [a, b] = ['aa'.repeat(32), 'bb'.repeat(32)] as const;
const now = 1_800_000_000_000;

const site = (address: string, title: string | null, path = `/${address}/`) =>
  ({ address, title, path }) as ListedSite;

const transfer = (change: Partial<TransferReport>): TransferReport => ({
  ...{ id: 1, path: `/${a}/film.webm`, size: 1_000_000, sent: 100_000, startedAt: now - 1_000 },
  ...{ endedAt: null, state: 'active', chunks: { memory: 0, disk: 1, peer: 2 } },
  ...change,
});

const rowsOf = (change: Partial<TransferReport>, sites: ListedSite[] = [], own: ListedSite | null = null) =>
  transferRows([{ site: own, transfers: [transfer(change)], now }], sites, new Map()).rows[0]!;

describe('a transfer', () => {
  it.each([
    [`/${a}/media/film.webm`, 'film.webm', 'Low Tide'],
    [`/${a}/`, 'Low Tide', null],
    [`/${a}/index.html`, 'Low Tide', null],
    [`/${a}`, 'Low Tide', null],
    [`/${a}/a%20b.png`, 'a b.png', 'Low Tide'],
    [`/${a}/%FF.png`, '%FF.png', 'Low Tide'],
    [`/${a}/\u202egnp.exe`, 'gnp.exe', 'Low Tide'],
    [`/${a}/%E2%80%AEgnp.exe`, 'gnp.exe', 'Low Tide'],
    ['/named/', 'Named', null],
    ['/constructor/x', 'x', null],
    [`/${b}/x.bin`, 'x.bin', null],
    [`/${b}`, b, null],
  ])('of %s is named %s, of the site %s', (path, name, title) => {
    const sites = [site(a, 'Low Tide'), site('cc'.repeat(32), 'Named', '/named/')];
    expect(rowsOf({ path }, sites)).toMatchObject({ name, site: title });
  });

  it('of a site on its own origin has a path inside the site', () => {
    const own = site(b, 'Cin\u2066ema');
    expect(rowsOf({ path: '/film.webm' }, [], own)).toMatchObject({ name: 'film.webm', site: 'Cin ema' });
    expect(rowsOf({ path: '/' }, [], own)).toMatchObject({ name: 'Cin ema', site: null });
  });

  it('has a rate and a remaining time from two reports', () => {
    const first = transferRows([{ site: null, transfers: [transfer({})], now }], [], new Map());
    expect(first.rows[0]).toMatchObject({ rate: 100_000, share: 0.1, secondsLeft: 9 });
    const later = { site: null, transfers: [transfer({ sent: 400_000 })], now: now + 1_000 };
    const second = transferRows([later], [], first.measured);
    expect(second.rows[0]).toMatchObject({ rate: 200_000, secondsLeft: 3 });
    // Another rendering of the same report measures nothing new.
    expect(transferRows([later], [], second.measured).rows).toEqual(second.rows);
  });

  it.each([
    ['of unknown size', { size: null }],
    ['that stands still', { sent: 0 }],
    ['that has ended', { state: 'done', endedAt: now }],
    ['that would take a year', { size: 1e15 }],
  ] as const)('%s has no remaining time', (_, change) => {
    expect(rowsOf(change)).toMatchObject({ secondsLeft: null });
  });

  it('that has ended comes after the running ones', () => {
    const transfers = [transfer({ id: 1, state: 'done', endedAt: now }), transfer({ id: 2 })];
    const { rows } = transferRows([{ site: null, transfers, now }], [], new Map());
    expect(rows.map(({ state }) => state)).toEqual(['active', 'done']);
  });
});

describe('the activity of a site’s origin', () => {
  const zeros = new Array<number>(120).fill(0);
  const report: ActivityReport = {
    ...{ peerBytes: zeros, servedBytes: zeros, since: 1, now, transfers: [transfer({})] },
    lifetime: noCounts().lifetime,
  };

  it('is taken as its worker sends it', () => {
    expect(siteActivity(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });

  it.each([
    ['nothing', undefined],
    ['a text', '<img src=x>'],
    ['an empty object', {}],
    ['too few seconds', { ...report, peerBytes: [1] }],
    ['too many seconds', { ...report, servedBytes: [...zeros, 1] }],
    ['a negative second', { ...report, servedBytes: [...zeros.slice(1), -1] }],
    ['a text as a count', { ...report, lifetime: { ...report.lifetime, badChunks: '0' } }],
    ['a total that is too large to add up', { ...report, lifetime: { ...report.lifetime, requests: 1e300 } }],
    ['a long path', { ...report, transfers: [transfer({ path: 'a'.repeat(2_000) })] }],
    ['too many transfers', { ...report, transfers: new Array(1_000).fill(transfer({})) }],
    ['an unknown state', { ...report, transfers: [{ ...transfer({}), state: '<b>' }] }],
  ])('is refused if it is or has %s', (_, value) => {
    expect(siteActivity(value)).toBeUndefined();
  });
});
