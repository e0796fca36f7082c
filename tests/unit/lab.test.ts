// @module-tag unix
import { describe, expect, it } from 'vitest';
import { AntTp } from '../../perf/lab/anttp.ts';
import { compare, comparisonTable } from '../../perf/lab/compare.ts';
import {
  expectedOf,
  LargeFile,
  pictureSizes,
  sampleBytes,
  sha256,
  spreadSizes,
} from '../../perf/lab/content.ts';
import { historyPage } from '../../perf/lab/history-page.ts';
import { workerTasks } from '../../perf/lab/long-tasks.ts';
import { parseLabOptions, UsageError } from '../../perf/lab/options.ts';
import { selfTimes } from '../../perf/lab/profile.ts';
import { report } from '../../perf/lab/report.ts';
import type { LabRun, ScenarioRun } from '../../perf/lab/run.ts';
import { rotated, runScenario } from '../../perf/lab/runner.ts';
import type { Case, Scenario } from '../../perf/lab/scenario.ts';
import { areApart, distribution, percentile } from '../../perf/lab/statistics.ts';
import { outcomes, ratiosTo, summarise } from '../../perf/lab/summary.ts';
import { LoopbackServer } from '../support/loopback-server.ts';

describe('statistics', () => {
  it('take the nearest rank as a percentile', () => {
    const values = Array.from({ length: 20 }, (_, i) => 20 - i);
    expect([0.5, 0.95, 0.99, 1].map((share) => percentile(values, share))).toEqual([10, 19, 20, 20]);
    expect(percentile([7], 0.95)).toBe(7);
  });

  it('tell ranges that share no value from those that do', () => {
    expect(areApart(distribution([1, 2]), distribution([3, 4]))).toBe(true);
    expect(areApart(distribution([1, 3]), distribution([2, 4]))).toBe(false);
  });

  it('refuse to make a median of nothing', () => {
    expect(() => distribution([])).toThrow(RangeError);
  });
});

/** Bytes per second are 1000 × these, by round. */
function runOf(byCase: Record<string, number[]>, measure: ScenarioRun['measure'] = 'bytes'): ScenarioRun {
  return {
    name: 'reading',
    summary: 'A page reads.',
    measure,
    targets: [],
    cases: Object.keys(byCase).map((name) => ({ name, role: name === 'ceiling' ? 'ceiling' : 'gateway' })),
    samples: Object.entries(byCase).flatMap(([name, speeds]) =>
      speeds.map((speed, round) => ({
        case: name,
        round,
        bytes: speed * 100,
        requests: 1,
        milliseconds: 100,
      })),
    ),
    failures: [],
    seconds: 1,
  };
}

function labRun(...scenarios: ScenarioRun[]): LabRun {
  const machine = {
    date: '2026-01-02T03:04',
    commit: 'abc',
    cpu: '2 × X',
    memory: '1 GiB',
    load: '0',
    versions: 'v',
  };
  return { format: 1, machine, scale: 'full', scenarios };
}

describe('a summary', () => {
  it('makes ratios inside a round, so that a slow machine does not count', () => {
    const run = runOf({ hot: [80, 8, 800], ceiling: [100, 10, 1000] });
    expect(ratiosTo(run, 'hot', 'ceiling')).toEqual({ median: 0.8, least: 0.8, most: 0.8 });
  });

  it('leaves out rounds in which only one of the two was measured', () => {
    const run = runOf({ hot: [50, 90], ceiling: [100] });
    expect(ratiosTo(run, 'hot', 'ceiling')?.median).toBe(0.5);
  });

  it('compares only inside a group', () => {
    const run = runOf({ hot: [50], ceiling: [100] });
    run.cases[0]!.group = 'another';
    expect(ratiosTo(run, 'hot', 'ceiling')).toBeUndefined();
  });

  it('tells of each target whether it is met, not met or not measured', () => {
    const run = runOf({ hot: [80], ceiling: [100] });
    run.targets = [
      { case: 'hot', of: 'ceiling', atLeast: 0.8 },
      { case: 'hot', of: 'ceiling', atLeast: 0.81 },
      { case: 'hot', measure: 'time', atMost: 99 },
      { case: 'cold', of: 'ceiling', atLeast: 0.1 },
    ];
    expect(outcomes(run).map(({ isMet }) => isMet)).toEqual([true, false, false, undefined]);
  });

  it('is not aimed at AntTP in a run without it', () => {
    const run = runOf({ hot: [80, 80] });
    run.targets = [{ case: 'hot', of: 'anttp', atLeast: 1 }];
    expect(outcomes(run)).toEqual([]);
    run.cases.push({ name: 'other', role: 'anttp' });
    expect(outcomes(run)).toMatchObject([{ isMet: undefined }]);
  });

  it('has the latencies of each case, and its worker’s peak over all rounds', () => {
    const run = runOf({ hot: [1, 1] });
    run.samples[0]!.workerPeakBytes = 5e6;
    run.samples[1]!.workerPeakBytes = 9e6;
    run.samples[0]!.latencyMs = { p50: 1, p95: 2, p99: 3 };
    const [hot] = summarise(run);
    expect(hot).toMatchObject({
      workerPeakBytes: 9e6,
      latencyMs: { p50: 1, p95: 2, p99: 3 },
      requestsPerSecond: 10,
    });
  });
});

describe('a report', () => {
  it('has a row for each case, with units and failures', () => {
    const run = runOf({ hot: [8000, 8000], ceiling: [10_000, 10_000] });
    run.targets = [{ case: 'hot', of: 'ceiling', atLeast: 0.85 }];
    run.failures = [{ case: 'cold', message: 'no such byte\n  at somewhere' }];
    run.samples[0]!.workerPeakBytes = 250e6;
    run.samples[0]!.processorMs = 150;
    run.samples[1]!.processorMs = 170;
    const text = report(labRun(run));
    expect(text).toContain('| hot | gateway | 100 | 100–100 | 160 | 8.00 | 0.80 (0.80–0.80) | 250 |');
    expect(text).toContain('- **Failed**: cold: no such byte\n');
    expect(text).toContain('| reading | hot | at least 0.85 × ceiling | 0.80 × ceiling | **not met** |');
    expect(text).toContain('| reading | peak of the worker | at most 200 MB | 250 MB | **not met** |');
  });
});

describe('a comparison of two runs', () => {
  it('calls a case slower when its rounds lie apart', () => {
    const before = labRun(runOf({ hot: [90, 92, 91], ceiling: [100, 100, 100] }));
    const after = labRun(runOf({ hot: [70, 72, 71], ceiling: [100, 100, 100] }));
    expect(compare(before, after)).toMatchObject([{ case: 'hot', unit: 'of the ceiling', change: 'slower' }]);
    expect(compare(after, before)).toMatchObject([{ change: 'faster' }]);
    expect(comparisonTable(compare(before, after))).toContain(
      '| reading | hot | of the ceiling | 0.91 (0.90–0.92) |',
    );
  });

  it('compares with native code in the same rounds where there is no ceiling', () => {
    const run = (own: number, native: number) => {
      const made = runOf({ encrypt: [own, own], native: [native, native] });
      made.cases[1]!.role = 'native';
      return labRun(made);
    };
    expect(compare(run(50, 100), run(40, 80))).toMatchObject([
      { case: 'encrypt', unit: 'of native', before: { median: 0.5 }, change: 'noise' },
    ]);
    expect(compare(run(50, 100), run(40, 100))).toMatchObject([{ change: 'slower' }]);
  });

  it('calls it noise when they do not, or differ by little', () => {
    const before = labRun(runOf({ hot: [90, 60], ceiling: [100, 100] }));
    const after = labRun(runOf({ hot: [70, 55], ceiling: [100, 100] }));
    expect(compare(before, after)).toMatchObject([{ change: 'noise' }]);
    const close = labRun(runOf({ hot: [100] }));
    expect(compare(close, labRun(runOf({ hot: [98] })))).toMatchObject([{ unit: 'MB/s', change: 'noise' }]);
  });

  it('knows that less time is better', () => {
    const slow = labRun(runOf({ page: [1] }, 'time'));
    const fast = structuredClone(slow);
    fast.scenarios[0]!.samples[0]!.milliseconds = 50;
    expect(compare(slow, fast)).toMatchObject([{ unit: 'ms', gain: 1, change: 'faster' }]);
  });

  it('compares only what both have', () => {
    expect(compare(labRun(), labRun(runOf({ hot: [1] })))).toEqual([]);
    expect(compare(labRun(runOf({ cold: [1] })), labRun(runOf({ hot: [1] })))).toEqual([]);
  });
});

describe('the page of all stored runs', () => {
  it('draws each gateway case over the runs, and escapes what it is told', () => {
    const run = runOf({ hot: [80], ceiling: [100] });
    run.summary = 'a < b';
    const page = historyPage([labRun(run), labRun(run)]);
    expect(page).toContain('run 2: 0.800 of the ceiling');
    expect(page).toContain('a &lt; b');
    expect(page.match(/<circle/g)).toHaveLength(2);
    expect(page).not.toContain('NaN');
  });
});

describe('the runner', () => {
  const scenario = { name: 's', summary: '', measure: 'bytes', rounds: 1 } as unknown as Scenario;
  const done = { bytes: 1, requests: 1, milliseconds: 1 };

  it('lets another case go first in each round', async () => {
    const order: string[] = [];
    const cases = ['a', 'b', 'c'].map(
      (name): Case => ({
        name,
        role: 'gateway',
        prepare: async () => void order.push(`prepare ${name}`),
        run: async () => {
          order.push(name);
          return done;
        },
      }),
    );
    await runScenario(scenario, { rounds: 2, warmUps: 0, setUp: async () => cases });
    expect(order.filter((entry) => entry.length === 1).join('')).toBe('abcbca');
    expect(order.slice(0, 2)).toEqual(['prepare a', 'a']);
    expect(rotated([], 3)).toEqual([]);
  });

  it('does not count the rounds that warm up', async () => {
    const cases: Case[] = [{ name: 'a', role: 'gateway', run: async () => done }];
    const run = await runScenario(scenario, { rounds: 2, warmUps: 1, setUp: async () => cases });
    expect(run.samples.map(({ round }) => round)).toEqual([0, 1]);
  });

  it('reports a case that fails, goes on with the others, and does not try it again', async () => {
    let tries = 0;
    const cases: Case[] = [
      {
        name: 'bad',
        role: 'gateway',
        run: async () => {
          tries++;
          throw new Error('a wrong byte');
        },
      },
      { name: 'good', role: 'static', run: async () => done },
    ];
    const run = await runScenario(scenario, { rounds: 3, warmUps: 0, setUp: async () => cases });
    expect(tries).toBe(1);
    expect(run.failures).toMatchObject([{ case: 'bad', message: expect.stringContaining('a wrong byte') }]);
    expect(run.samples.map((sample) => sample.case)).toEqual(['good', 'good', 'good']);
  });

  it('reports a set-up that fails', async () => {
    const setUp = () => Promise.reject(new Error('no peer'));
    const run = await runScenario(scenario, { rounds: 1, warmUps: 0, setUp });
    expect(run.failures).toMatchObject([{ message: expect.stringContaining('no peer') }]);
  });
});

describe('the options', () => {
  const all = [{ name: 'one' }, { name: 'two' }, { name: 'tools', needsChromium: true }];

  it('mean all scenarios when none is named, and keep their order', () => {
    expect(parseLabOptions([], all)).toMatchObject({
      scenarios: ['one', 'two', 'tools'],
      scale: 'full',
      browser: 'chromium',
      keep: false,
    });
    expect(parseLabOptions(['two', 'one', '--quick', '--rounds', '3'], all)).toMatchObject({
      scenarios: ['one', 'two'],
      scale: 'quick',
      rounds: 3,
    });
  });

  it('leave out what only Chromium can measure', () => {
    expect(parseLabOptions(['--browser', 'firefox'], all)).toMatchObject({
      scenarios: ['one', 'two'],
      browser: 'firefox',
    });
    expect(() => parseLabOptions(['tools', '--browser', 'firefox'], all)).toThrow(
      'Only Chromium can measure “tools”.',
    );
  });

  it('are refused with the list of valid values', () => {
    expect(() => parseLabOptions(['three'], all)).toThrow(
      'There is no scenario “three”. There are one, two, tools.',
    );
    expect(() => parseLabOptions(['--fast'], all)).toThrow('pnpm perf [scenario …]');
    for (const args of [
      ['--rounds', '0'],
      ['--rounds', 'x'],
      ['--quick', '--smoke'],
      ['--quick', '--keep'],
      ['--browser', 'safari'],
      ['--browser', 'firefox', '--keep'],
      ['--browser', 'firefox', '--profile'],
    ]) {
      expect(() => parseLabOptions(args, all)).toThrow(UsageError);
    }
  });
});

describe('the contents', () => {
  it('of the pictures are 437 KB on average', () => {
    const sizes = pictureSizes(80);
    expect(sizes.reduce((sum, size) => sum + size, 0) / 80).toBe(437_000);
  });

  it('of many small files are between the bounds, small ones more often, always the same', () => {
    const sizes = spreadSizes(1000, 1_000, 64_000);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64_000);
    expect(sizes.filter((size) => size < 8_000).length).toBeGreaterThan(450);
    expect(spreadSizes(1000, 1_000, 64_000)).toEqual(sizes);
  });

  it('of a large file can be read anywhere', async () => {
    const file = new LargeFile(LargeFile.period + 5_000_000);
    const whole = Buffer.concat([
      await file.read(0, 4_190_208),
      await file.read(4_190_208, 2 * 4_190_208),
      await file.read(2 * 4_190_208, LargeFile.period),
    ]);
    expect(Buffer.compare(await file.read(4_190_000, 8_500_000), whole.subarray(4_190_000, 8_500_000))).toBe(
      0,
    );
    expect(
      Buffer.compare(await file.read(LargeFile.period, LargeFile.period + 9), whole.subarray(0, 9)),
    ).toBe(0);
  });

  it('are known by their hash, and long ones by parts of 4 KiB from the first byte to the last', async () => {
    const file = new LargeFile(LargeFile.period);
    const read = file.read.bind(file);
    const short = await expectedOf(file, read, [10, 20]);
    expect(short).toEqual({ size: 10, sha256: sha256([await file.read(10, 20)]) });
    const long = await expectedOf(file, read);
    expect(long.samples?.at(0)).toBe(0);
    expect(long.samples?.at(-1)).toBe(file.size - sampleBytes);
  });
});

describe('an AntTP', () => {
  async function withServer(status: number, work: (url: string, bodies: string[]) => Promise<void>) {
    const bodies: string[] = [];
    await using server = await LoopbackServer.start(async (request, response) => {
      const parts: Buffer[] = await request.toArray();
      bodies.push(
        `${request.method} ${request.url} ${request.headers['x-store-type']} ${Buffer.concat(parts)}`,
      );
      response.writeHead(status).end();
    });
    await work(server.url, bodies);
  }

  it('is filled record by record, and stores them only locally', async () => {
    await withServer(201, async (url, bodies) => {
      const antTp = new AntTp(url);
      await antTp.put('', Buffer.from('a record'));
      expect(bodies).toEqual(['POST /anttp-0/binary/chunk disk a record']);
      expect(() => antTp.check()).not.toThrow();
    });
  });

  it('that takes no records fails only its own measurements', async () => {
    await withServer(403, async (url) => {
      const antTp = new AntTp(url);
      await expect(antTp.put('', Buffer.from('a record'))).resolves.toBeUndefined();
      expect(() => antTp.check()).toThrow('AntTP could not be filled.');
    });
  });
});

describe('a trace', () => {
  it('gives the tasks of service workers’ threads alone, by their own time', () => {
    const task = { name: 'ThreadControllerImpl::RunTask', ph: 'X', pid: 1 };
    const tasks = workerTasks([
      { name: 'thread_name', ph: 'M', pid: 1, tid: 5, args: { name: 'ServiceWorker thread' } },
      { name: 'thread_name', ph: 'M', pid: 1, tid: 6, args: { name: 'CrRendererMain' } },
      { ...task, tid: 5, dur: 9000, tdur: 4000 },
      { ...task, tid: 5, dur: 3000 },
      { ...task, tid: 6, dur: 70_000 },
      { ...task, tid: 5, pid: 2, dur: 70_000 },
    ]);
    expect(tasks).toEqual([4, 3]);
  });
});

describe('a CPU profile', () => {
  it('gives each function the time until the next sample', () => {
    const frame = { url: 'http://h/sw.js', lineNumber: 0, columnNumber: 9 };
    const profile = {
      nodes: [
        { id: 1, callFrame: { functionName: 'open', ...frame } },
        { id: 2, callFrame: { functionName: '(idle)', url: '', lineNumber: -1, columnNumber: -1 } },
      ],
      samples: [1, 2, 1],
      timeDeltas: [0, 2000, 3000],
    };
    expect([...selfTimes(profile)]).toEqual([
      ['open (sw.js:1:10)', 2],
      ['(idle)', 3],
    ]);
  });
});
