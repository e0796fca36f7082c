import { setTimeout as delay } from 'node:timers/promises';
import { markdownTable } from '../numbers.ts';
import { type AttackedPeer, mebibyte, peakMemory, resetPeakMemory } from './attacked-peer.ts';
import type { Reading } from './honest-reader.ts';

const measureSeconds = 10;
/** Until the attacks hold what they can get. */
const rampSeconds = 15;
/** The networks of each kind, if all kinds come at once. */
const networksOfAll = 4;
/** The networks of one kind that comes alone. */
const networksOfOne = 24;
/** An honest client may need so many times its own time without attacks, and so much more. */
const slowdown = { factor: 10, extraMs: 100 };

export interface HostileResult {
  table: string;
  /** The values that are worse than they may be. */
  problems: string[];
}

/** Honest clients beside `count` hostile ones of each kind at once: their rates, of their rates without them. */
export async function hostileLoad(peer: AttackedPeer, count: number): Promise<HostileResult> {
  const before = await peer.read(measureSeconds);
  const end = await peer.attack({ kind: undefined, count, networks: networksOfAll });
  await delay(rampSeconds * 1000);
  const during = await peer.read(measureSeconds);
  await end();
  await delay(1000);
  const after = await peer.read(measureSeconds);

  const memory = peakMemory(peer.processId);
  const problems = memory > peer.memoryBound ? ['The peer took more memory than documented.'] : [];
  const rows = Object.keys(before).map((name) => {
    const readings = [before[name]!, during[name]!, after[name]!] as const;
    const share = readings[1].rate / ((readings[0].rate + readings[2].rate) / 2);
    if (share < 0.5) problems.push(`The honest client over ${name} got less than half of its rate.`);
    const failures = readings.reduce((sum, reading) => sum + reading.failures, 0);
    return [name, ...readings.map(({ rate }) => rate.toFixed(0)), share.toFixed(2), String(failures)];
  });
  const kinds = `${count} of each of ${peer.kinds.length} kinds: ${peer.kinds.join(', ')}.`;
  const peak = `Peak memory of the peer ${inMebibytes(memory)}, \
${(memory / peer.memoryBound).toFixed(2)} of the documented bound.`;
  const head = ['honest client', 'chunks/s before', 'with attacks', 'after', 'share', 'failed'];
  return { table: `${kinds} ${peak}\n\n${markdownTable([head, ...rows])}`, problems };
}

/** Honest clients beside `count` hostile ones of one kind after the other: the time for 95 % of their chunks. */
export async function hostileTable(
  peer: AttackedPeer,
  { count, kinds }: { count: number; kinds: readonly string[] },
): Promise<HostileResult> {
  const problems: string[] = [];
  const idle = await peer.read(measureSeconds);
  const clients = Object.keys(idle);
  const cells = (readings: Readonly<Record<string, Reading>>) =>
    clients.flatMap((name) => [inMilliseconds(readings[name]!.p95Ms), String(readings[name]!.failures)]);
  const rows = [['none', ...cells(idle), inMebibytes(peakMemory(peer.processId))]];
  for (const kind of kinds) {
    resetPeakMemory(peer.processId);
    const end = await peer.attack({ kind, count, networks: networksOfOne });
    await delay(rampSeconds * 1000);
    const during = await peer.read(measureSeconds);
    const memory = peakMemory(peer.processId);
    await end();
    rows.push([kind, ...cells(during), inMebibytes(memory)]);
    const failed = clients.map((name) => during[name]!.firstFailure).filter((failure) => failure !== null);
    console.error([...rows.at(-1)!, ...failed].join(' | '));
    if (memory > peer.memoryBound) problems.push(`${kind}: the peer took more memory than documented.`);
    for (const name of clients) {
      const bound = slowdown.factor * (idle[name]!.p95Ms ?? 0) + slowdown.extraMs;
      if ((during[name]!.p95Ms ?? Infinity) > bound) problems.push(`${kind}: ${name} is too slow.`);
    }
    // The peer closes what the attackers have left.
    await delay(2000);
  }
  const head = [
    'hostile connections',
    ...clients.flatMap((name) => [`${name}, p95`, 'failed']),
    'peak memory',
  ];
  return { table: markdownTable([head, ...rows]), problems };
}

function inMilliseconds(time: number | null): string {
  return time === null ? '–' : `${time.toFixed(time < 10 ? 1 : 0)} ms`;
}

function inMebibytes(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(0)} MiB`;
}
