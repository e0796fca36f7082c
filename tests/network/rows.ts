import { markdownTable } from '../../perf/numbers.ts';

/** The time of one step. */
export interface Row {
  step: string;
  item: string;
  bytes?: number;
  seconds: number;
}

/** The rows as a table in Markdown. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map(({ step, item, bytes, seconds }) => [
    step,
    item,
    bytes === undefined ? '' : (bytes / 1e6).toFixed(bytes < 1e6 ? 2 : 1),
    seconds.toFixed(2),
    bytes === undefined ? '' : (bytes / 1e6 / seconds).toFixed(1),
  ]);
  return markdownTable([['step', 'what', 'MB', 's', 'MB/s'], ...cells]);
}

/** The time since `performance.now()` was `sinceMs`. */
export function seconds(sinceMs: number): number {
  return (performance.now() - sinceMs) / 1000;
}
