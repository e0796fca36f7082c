// `pnpm perf`: runs scenarios and their baselines, and tells what came of it. Fails when a scenario does: when a byte
// is wrong, or does not come from where it should. Never because of a time.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromRoot } from '../../tests/support/paths.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { keepInHistory } from './history.ts';
import { Lab, LabMachine } from './lab.ts';
import { type BrowserName, launchLabBrowser } from './lab-browser.ts';
import { type LabOptions, parseLabOptions, UsageError, usage } from './options.ts';
import { report } from './report.ts';
import type { LabRun, ScenarioRun } from './run.ts';
import { runScenario } from './runner.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';

const resultsFolder = fromRoot('test-results/perf');

try {
  const options = parseLabOptions(process.argv.slice(2), scenarios);
  if (options.help) {
    console.log(`${usage}\n`);
    for (const { name, summary } of scenarios) console.log(`${name}\n    ${summary}`);
  } else {
    process.exitCode = (await runAll(options)) ? 0 : 1;
  }
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

/** @returns whether everything went well. */
async function runAll(options: LabOptions): Promise<boolean> {
  const machine = await machineWith(options.browser);
  const run: LabRun = { format: 1, machine, scale: options.scale, scenarios: [] };
  await mkdir(resultsFolder, { recursive: true });
  const shared = options.scale === 'smoke' ? await LabMachine.start(options.browser) : undefined;
  try {
    for (const name of options.scenarios) {
      const scenario = scenarios.find((each) => each.name === name)!;
      console.error(`${name} …`);
      run.scenarios.push(await runOne(scenario, options, shared));
      // After each, so that a run that is interrupted leaves what it has.
      await write('lab.json', JSON.stringify(run));
      await write('lab.md', report(run));
    }
  } finally {
    await shared?.close();
  }
  console.log(report(run));
  if (options.keep) console.error(`Stored as ${await keepInHistory(run)}.`);
  const failed = run.scenarios.filter(({ failures }) => failures.length > 0);
  for (const { name, failures } of failed) {
    for (const { case: of, message } of failures) console.error(`${name}${of ? `, ${of}` : ''}: ${message}`);
  }
  return failed.length === 0;
}

/** In a smoke run all scenarios share one browser and one peer, whose start is most of the work then. */
async function runOne(
  scenario: Scenario,
  { scale, rounds, browser, profile }: LabOptions,
  sharedMachine: LabMachine | undefined,
): Promise<ScenarioRun> {
  const machine = sharedMachine ?? (await LabMachine.start(browser));
  const lab = new Lab(scale, machine, profile ? join(resultsFolder, scenario.name) : undefined);
  try {
    return await runScenario(scenario, {
      rounds: rounds ?? lab.pick(scenario.rounds, 2, 1),
      warmUps: scenario.isLong ? 0 : lab.pick(1, 0, 0),
      setUp: () => scenario.setUp(lab),
      onRun: (name, round) => console.error(`  ${round < 0 ? 'warming up' : `round ${round + 1}`}: ${name}`),
    });
  } finally {
    await lab.close();
    if (!sharedMachine) await machine.close();
  }
}

async function machineWith(name: BrowserName): Promise<Machine> {
  const profile = await mkdtemp(join(tmpdir(), 'antway-lab-profile-'));
  const browser = await launchLabBrowser(name, profile);
  try {
    return describeMachine(browser.version);
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
  }
}

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(resultsFolder, name), text);
}
