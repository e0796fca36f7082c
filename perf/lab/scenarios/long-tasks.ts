import { LargeFile } from '../content.ts';
import type { State } from '../gateway.ts';
import { tasksDuring } from '../long-tasks.ts';
import { Reading } from '../reading.ts';
import type { Case, Scenario } from '../scenario.ts';

/** Whether the worker can answer others while it is busy with a large file. */
export const longTasks: Scenario = {
  name: 'long-tasks',
  summary:
    'The longest task of the worker’s thread (time on a processor) while a page reads a file of 64 MiB; every other ' +
    'request waits for it.',
  measure: 'time',
  rounds: 3,
  needsChromium: true,
  isLong: true,
  targets: [
    { case: 'cold', atMost: 50 },
    { case: 'warm', atMost: 50 },
  ],
  async setUp(lab) {
    const file = { name: 'large.bin', source: new LargeFile(lab.pick(64, 32, 12) * 1024 ** 2) };
    const { address } = await lab.publish(file.source);
    const readers = (await Reading.of([[{ file }]])).at(() => `/${address}`);
    const gateway = await lab.openGateway();
    return (['cold', 'warm'] satisfies State[]).map(
      (state): Case => ({
        name: state,
        role: 'gateway',
        prepare: () => gateway.enter(state, readers),
        async run() {
          let bytes = 0;
          const tasks = await tasksDuring(lab.browser.chromium!, async () => {
            ({ bytes } = await gateway.read(state, readers, state));
          });
          if (tasks.length === 0) throw new Error('The trace has no task of the worker.');
          return { bytes, requests: tasks.length, milliseconds: Math.max(...tasks) };
        },
      }),
    );
  },
};
