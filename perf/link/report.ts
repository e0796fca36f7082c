import { markdownTable, spread } from '../numbers.ts';
import type { FirstByte, Measurement } from './main.ts';

const head = [
  'RTT ms',
  'loss %',
  'Mbit/s',
  'transport',
  'file MB',
  'Mbit/s got',
  'of the link',
  'on the link',
  'small site, first byte ms',
  'of its limit',
  'in RTTs, less nearby',
  'large site, first byte ms',
  'of its limit',
  'carried',
  'lost + overflowed, of sent (down)',
  'relay late ms',
];

/** A row for each measurement, in Markdown. */
export function linkTable(measurements: readonly Measurement[]): string {
  return markdownTable([head, ...measurements.map((measurement) => row(measurement, measurements))]);
}

function row(
  { rttMs, lossPercent, mbitPerSecond, transport, transfer, small, large, relay }: Measurement,
  all: readonly Measurement[],
): string[] {
  const nearby = all.find((other) => other.rttMs === 0 && other.transport === transport);
  const { lost, overflowed, sent } = relay.down;
  return [
    String(rttMs),
    String(lossPercent),
    String(mbitPerSecond),
    transport,
    ...(transfer
      ? [
          `${(transfer.bytes / 1e6).toFixed(0)}${transfer.isWhole ? '' : ' (given up)'}`,
          transfer.mbitPerSecond.toFixed(1),
          `${(transfer.shareOfLink * 100).toFixed(0)} %`,
          transfer.onLinkMbitPerSecond.toFixed(1),
        ]
      : ['–', '–', '–', '–']),
    firstByte(small),
    ratio(small, rttMs),
    nearby && rttMs > 0 ? ((small.medianMs - nearby.small.medianMs) / rttMs).toFixed(1) : '–',
    firstByte(large),
    ratio(large, rttMs),
    `${large.carriedShare.toFixed(2)} ×`,
    transport === 'http' ? '–' : `${lost} + ${overflowed} of ${sent}`,
    relay.lateMs.toFixed(0),
  ];
}

function firstByte({ medianMs, milliseconds }: FirstByte): string {
  return `${medianMs.toFixed(0)} (${spread(milliseconds)})`;
}

function ratio({ medianMs, limitMs }: FirstByte, rttMs: number): string {
  return rttMs > 0 ? `${(medianMs / limitMs).toFixed(1)} ×` : '–';
}
