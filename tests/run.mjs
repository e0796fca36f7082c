// `npm test`: from a fresh clone to the counts of all tests. Plain JavaScript, see src/cli/setup.mjs.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  buildCli,
  buildDropIn,
  buildNpmPackages,
  buildPeer,
  buildShell,
  checkCargo,
  checkNode,
  fail,
  installPackages,
  installPackageTestTools,
  installTestChain,
  root,
  SetupError,
  supportsRustPeer,
} from '../src/cli/setup.mjs';
import {
  ensurePip,
  ensureWebKit,
  findChromium,
  findFirefox,
  findHeadlessShell,
  findPebble,
} from './runner/programs.mjs';
import { reportUnstable, trySecondTime } from './runner/second-try.mjs';
import { parseShard } from './runner/shard.mjs';
import {
  runAcme,
  runBrowser,
  runFirefox,
  runRust,
  runThirdParty,
  runUnit,
  runWebKit,
} from './runner/suites.mjs';

/**
 * @typedef {import('./runner/second-try.mjs').Result} Result
 * @typedef {import('./runner/suites.mjs').Tier} Tier
 */

const suites = ['unit', 'rust', 'browser', 'firefox', 'webkit'];
/** The suites of `--quick`. Of the browser tests it runs those with the tag `@smoke`. */
const quickSuites = ['unit', 'browser'];
/** Parts of other suites in the full tier, alone. They need large packages or Go. */
const extraSuites = ['third-party', 'acme'];

try {
  const { tier, shard, wanted } = readOptions();
  checkNode();
  // The peer in Rust needs Unix. The tests in Node that need it have a tag.
  const needsPeer = supportsRustPeer() || wanted.some((suite) => suite !== 'unit');
  if (needsPeer) checkCargo();
  const needsBuilds = wanted.some((suite) => suite !== 'rust' && suite !== 'acme');
  // The compiler waits for the processor, and downloads wait for the network.
  const [programs] = await Promise.all([
    prepare(wanted, { needsBuilds, tier }),
    needsBuilds && needsPeer && buildPeer({ withTestPrograms: true }),
  ]);

  const results = [];
  if (wanted.includes('unit')) results.push(await runUnit(tier, shard));
  if (wanted.includes('acme')) results.push(await runAcme(programs.pebble));
  if (wanted.includes('browser')) results.push(await runBrowser(tier, shard, programs));
  if (wanted.includes('third-party')) results.push(await runThirdParty(programs));
  // These wait much: the tests in Rust for limits of time, the others for their browsers. Two cores have no room for a
  // third browser, so WebKitGTK comes after the two Firefoxes.
  const others = [
    wanted.includes('rust') && runRust(tier, shard, programs.pebble),
    wanted.includes('firefox') && runFirefox(tier, shard, programs.firefox),
  ];
  results.push(...(await Promise.all(others)).filter(Boolean));
  if (wanted.includes('webkit')) results.push(await runWebKit(tier, shard));
  await reportUnstable(await trySecondTime(results), join(root, 'test-results'));
  process.exitCode = summarise(results);
} catch (error) {
  process.on('exit', () => console.log('0 passed, 1 failed')); // a reader of the last line must find one
  fail(error);
}

/**
 * `--quick` for the tests that take less than three minutes, `--full` for everything, `--shard 1/4` for a part of it, and
 * `--only unit|rust|browser|firefox|webkit|third-party|acme`, which may be given more than once.
 * @returns {{ tier: Tier, shard?: import('./runner/shard.mjs').Shard, wanted: string[] }}
 */
function readOptions() {
  const all = [...suites, ...extraSuites];
  let values;
  try {
    const options = {
      only: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      shard: { type: 'string' },
    };
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new SetupError(
      `${error.message}\nThe options are --quick, --full, --shard INDEX/COUNT and --only ${all.join('|')}.`,
    );
  }
  const unknown = values.only?.find((suite) => !all.includes(suite));
  if (unknown !== undefined)
    throw new SetupError(`There are no “${unknown}” tests; there are ${all.join(', ')}.`);
  const tier = values.full ? 'full' : values.quick ? 'quick' : 'default';
  const shard = values.shard === undefined ? undefined : parseShard(values.shard);
  return { tier, shard, wanted: values.only ?? (tier === 'quick' ? quickSuites : suites) };
}

/**
 * Builds everything except the peer, and installs the programs that the tests run.
 * @returns the paths of these programs.
 */
async function prepare(wanted, { needsBuilds, tier }) {
  if (needsBuilds) {
    await installPackages();
    await buildShell();
    await buildCli();
    await buildDropIn();
    await buildNpmPackages();
    await installPackageTestTools();
    await installTestChain();
  }
  const isFull = tier === 'full';
  const needsChromium = wanted.includes('browser') || wanted.includes('third-party');
  const chromium = needsChromium ? await findChromium() : undefined;
  if (needsChromium && (isFull || wanted.includes('third-party'))) await ensurePip();
  const headlessShell = wanted.includes('browser') ? await findHeadlessShell(chromium) : undefined;
  const firefox = wanted.includes('firefox') ? await findFirefox() : undefined;
  if (wanted.includes('webkit')) await ensureWebKit();
  const needsPebble = wanted.includes('acme') || (isFull && wanted.includes('rust'));
  const pebble = needsPebble ? await findPebble() : undefined;
  return { chromium, headlessShell, firefox, pebble };
}

/**
 * Prints the counts, after the failures once more: the output of several thousand tests is between them and here.
 * @returns {number} the exit code.
 */
function summarise(/** @type {Result[]} */ results) {
  for (const { name, failures } of results) {
    for (const { title, message } of failures) console.log(`\nFailed (${name}): ${title}\n\n${message}`);
  }
  console.log('');
  for (const { name, passed, failed, problem, seconds, idle } of results) {
    const counts = `${name.padEnd(8)} ${passed} passed, ${failed} failed${problem ? `: ${problem}` : ''}`;
    console.log(`${counts} (${Math.round(seconds)} s, processors ${Math.round(100 * idle)} % idle)`);
  }
  const sum = (key) => results.reduce((total, counts) => total + counts[key], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') > 0 ? 1 : 0;
}
