import { markdownTable, median, spread } from '../numbers.ts';

/** One timed read. */
export interface Sample {
  round: number;
  what: string;
  milliseconds: number;
}

const head = ['what', 'median ms', 'spread ms', 'MB/s', 'of the ceiling', 'of static HTTP'];

/**
 * Medians over all rounds. The ratios are of speeds: each read's to the references of its own round, so that what
 * slows down the whole machine for a while does not count.
 */
export function smokeTable(samples: readonly Sample[], bytes: number): string {
  const names = [...new Set(samples.map(({ what }) => what))];
  return markdownTable([
    head,
    ...names.map((what) => {
      const own = samples.filter((sample) => sample.what === what);
      const times = own.map(({ milliseconds }) => milliseconds);
      return [
        what,
        median(times).toFixed(0),
        spread(times),
        (bytes / 1000 / median(times)).toFixed(0),
        ratioTo('ceiling', own, samples),
        ratioTo('static', own, samples),
      ];
    }),
  ]);
}

function ratioTo(reference: string, own: readonly Sample[], all: readonly Sample[]): string {
  const ratios = own.map(({ round, milliseconds }) => {
    const references = all.filter((sample) => sample.what === reference && sample.round === round);
    return median(references.map((sample) => sample.milliseconds)) / milliseconds;
  });
  return median(ratios).toFixed(2);
}
