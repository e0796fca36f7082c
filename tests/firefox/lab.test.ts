import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lab, LabMachine } from '../../perf/lab/lab.ts';
import { runScenario } from '../../perf/lab/runner.ts';
import { boot } from '../../perf/lab/scenarios/first-byte.ts';
import { rangeSeek } from '../../perf/lab/scenarios/range-seek.ts';

let machine: LabMachine;
beforeAll(async () => {
  machine = await LabMachine.start('firefox');
});
afterAll(() => machine?.close());

// The gateway's worker ends and starts, and the counters prove where the bytes come from.
test.each([rangeSeek, boot])(
  'the lab measures $name, and every byte is right',
  { tags: 'full' },
  async (scenario) => {
    const lab = new Lab('smoke', machine);
    try {
      const run = await runScenario(scenario, { rounds: 1, warmUps: 0, setUp: () => scenario.setUp(lab) });
      expect(run.failures).toEqual([]);
      expect(run.samples.map(({ case: name }) => name).toSorted()).toEqual(
        run.cases.map(({ name }) => name).toSorted(),
      );
      for (const { milliseconds, bytes } of run.samples) {
        expect(milliseconds).toBeGreaterThan(0);
        expect(bytes).toBeGreaterThan(0);
      }
    } finally {
      await lab.close();
    }
  },
);
