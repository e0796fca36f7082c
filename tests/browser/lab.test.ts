import { Lab, LabMachine } from '../../perf/lab/lab.ts';
import { runScenario } from '../../perf/lab/runner.ts';
import { scenarios } from '../../perf/lab/scenarios/index.ts';
import { outcomes } from '../../perf/lab/summary.ts';
import { expect, test } from '../support/chromium.ts';

// The lab with its smallest contents, for function only: every body is checked, and so is where it came from. What
// `pnpm perf` measures works, then; no time makes a test fail. All share one browser and one peer.
test.describe.configure({ mode: 'default', timeout: 180_000 });

let machine: LabMachine;

test.beforeAll(async () => {
  machine = await LabMachine.start();
});

test.afterAll(() => machine?.close());

for (const scenario of scenarios) {
  // One scenario for every change, with the app and a peer; all of them take minutes.
  const tag = scenario.name === 'boot' ? [] : ['@full'];
  test(`the lab measures ${scenario.name}, and every byte is right`, { tag }, async () => {
    const lab = new Lab('smoke', machine);
    try {
      const run = await runScenario(scenario, { rounds: 1, warmUps: 0, setUp: () => scenario.setUp(lab) });
      expect(run.failures).toEqual([]);
      expect(run.samples.map((sample) => sample.case)).toEqual(run.cases.map(({ name }) => name));
      for (const { bytes, requests, milliseconds } of run.samples) {
        expect(bytes).toBeGreaterThan(0);
        expect(requests).toBeGreaterThan(0);
        expect(milliseconds).toBeGreaterThan(0);
      }
      // Every target names cases that there are. Only the native program is not built for this: that takes minutes.
      const hasNative = run.cases.some(({ role }) => role === 'native');
      for (const { value, target } of outcomes(run)) {
        if (target.of !== 'native' || hasNative) expect(value, JSON.stringify(target)).toBeDefined();
      }
    } finally {
      await lab.close();
    }
  });
}
