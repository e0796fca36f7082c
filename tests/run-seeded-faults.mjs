// Puts small faults into a copy of the project, one after the other. For each of them, a test of the default tier has to fail.
// Plain JavaScript, see src/cli/setup.mjs.
import { parseArgs } from 'node:util';
import { fail, SetupError } from '../src/cli/setup.mjs';
import { faults } from './faults/faults.mjs';
import { ProjectCopy } from './faults/project-copy.mjs';
import { commandOf, runTest } from './faults/test-command.mjs';

/** @typedef {import('./faults/faults.mjs').Fault} Fault */
/** @typedef {{ fault: Fault, result: string, seconds: number }} Row */

try {
  const { list, baseline, chosen } = readOptions();
  if (list) chosen.forEach(describe);
  else process.exitCode = summarise(await tryAll(chosen, baseline), baseline);
} catch (error) {
  fail(error);
}

/** `--list` shows the faults. `--baseline` runs the tests without faults, so that all of them have to pass. */
function readOptions() {
  const options = {
    list: { type: 'boolean', default: false },
    baseline: { type: 'boolean', default: false },
  };
  let parsed;
  try {
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new SetupError(`${error.message}\nThe options are --list, --baseline and names of faults.`);
  }
  const { values, positionals: names } = parsed;
  const unknown = names.find((name) => !faults.some((fault) => fault.name === name));
  if (unknown !== undefined)
    throw new SetupError(`There is no fault “${unknown}”. --list shows all of them.`);
  const chosen = faults.filter(({ name }) => names.length === 0 || names.includes(name));
  return { ...values, chosen };
}

/** @param {Fault} fault */
function describe({ name, breaks, file, build, test }) {
  console.log(`${name}\n  ${breaks}\n  in ${file}${build ? `, builds: ${build}` : ''}\n  ${lineOf(test)}\n`);
}

/** @returns {Promise<Row[]>} */
async function tryAll(chosen, baseline) {
  const ending = new AbortController();
  const end = () => ending.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  const { signal } = ending;
  const copy = await ProjectCopy.create();
  try {
    console.log(`The copy is in ${copy.folder}.`);
    await copy.fill(signal);
    await copy.prepare(signal);
    const rows = [];
    // Tests of the peer build the peer with the fault. All other tests need a peer without a fault, so they come first.
    for (const fault of chosen.toSorted((a, b) => rank(a) - rank(b))) {
      const startedAt = performance.now();
      const { result, detail } = await tryOne(copy, fault, baseline, signal);
      const seconds = (performance.now() - startedAt) / 1000;
      console.log(`${fault.name}: ${result} (${seconds.toFixed(1)} s)`);
      if (result !== 'passed') console.log(detail.replace(/^/gm, '  '));
      rows.push({ fault, result, seconds });
    }
    return rows;
  } finally {
    await copy.remove();
    process.off('SIGINT', end).off('SIGTERM', end);
  }
}

function rank({ test }) {
  return test.runner === 'cargo' ? 1 : 0;
}

/** @returns {Promise<{ result: 'caught' | 'survived' | 'invalid' | 'passed', detail: string }>} */
async function tryOne(copy, fault, baseline, signal) {
  try {
    const problem = baseline ? undefined : await copy.apply(fault, signal);
    if (problem !== undefined) return { result: 'invalid', detail: problem };
    const { outcome, detail } = await runTest(copy.folder, fault.test, signal);
    if (outcome === 'broken') return { result: 'invalid', detail };
    if (baseline) return { result: outcome, detail };
    return { result: outcome === 'failed' ? 'caught' : 'survived', detail };
  } finally {
    await copy.restore();
  }
}

/** @param {Row[]} rows @returns {number} the exit code. */
function summarise(rows, baseline) {
  const good = baseline ? 'passed' : 'caught';
  const width = Math.max(...rows.map(({ fault }) => fault.name.length));
  console.log('');
  for (const { fault, result, seconds } of rows) {
    const columns = [fault.name.padEnd(width), result.padEnd(8), `${Math.round(seconds)} s`.padStart(6)];
    console.log([...columns, lineOf(fault.test)].join('  '));
  }
  const count = rows.filter(({ result }) => result === good).length;
  console.log(`${count} of ${rows.length} ${good}`);
  return count === rows.length ? 0 : 1;
}

/** The command of a test, as a shell takes it. */
function lineOf(test) {
  const quoted = (argument) =>
    /^[\w@=:./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
  return commandOf(test).map(quoted).join(' ');
}
