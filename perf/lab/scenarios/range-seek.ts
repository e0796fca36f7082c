import { LargeFile } from '../content.ts';
import { ceilingCase, gatewayCase, Reading, type Request } from '../reading.ts';
import type { Scenario } from '../scenario.ts';

const rangeBytes = 1_000_000;

/** A player that jumps about in a film. */
export const rangeSeek: Scenario = {
  name: 'range-seek',
  summary: 'A page reads ranges of 1 MB at random places of a file of 1 GiB, one after the other.',
  measure: 'p95',
  rounds: 3,
  targets: [{ case: 'hot', of: 'ceiling', atMost: 2 }],
  async setUp(lab) {
    const file = { name: 'film.bin', source: new LargeFile(lab.pick(1024, 128, 16) * 1024 ** 2) };
    const { address } = await lab.publish(file.source);
    await lab.layOut('film', [{ name: 'period.bin', source: new LargeFile(LargeFile.period) }]);
    const random = randomNumbers(1);
    const requestAt = (position: number): Request => {
      const start = Math.floor(position * (file.source.size - rangeBytes));
      return { file, range: [start, start + rangeBytes] };
    };
    const requests = Array.from({ length: lab.pick(40, 20, 4) }, () => requestAt(random()));
    // The worker's memory has room for the decrypted chunks of a few places: hot means to come back to them.
    const places = requests.slice(0, 6);
    const hotRequests = requests.map(() => places[Math.floor(random() * places.length)]!);
    const reading = await Reading.of([requests]);
    const readingHot = await Reading.of([hotRequests]);
    const gateway = await lab.openGateway();
    return [
      gatewayCase(
        gateway,
        'cold',
        reading.at(() => `/${address}`),
      ),
      gatewayCase(
        gateway,
        'hot',
        readingHot.at(() => `/${address}`),
      ),
      ceilingCase(
        await lab.openBaseline('ceiling'),
        reading.at(() => `/ceiling/film/period.bin?size=${file.source.size}`),
      ),
    ];
  },
};

/** Numbers from 0 to 1, the same every time (a linear congruential generator, as in Numerical Recipes). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
