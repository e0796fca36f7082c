import { parseArgs } from 'node:util';
import { type BrowserName, browserNames } from './lab-browser.ts';
import type { Scale, Scenario } from './scenario.ts';

/** Something wrong with what was asked for. Its message says what there is. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export interface LabOptions {
  /** Names of scenarios, in their own order; all of them if none was named. */
  scenarios: string[];
  /** Instead of each scenario's own number. */
  rounds?: number;
  scale: Scale;
  browser: BrowserName;
  /** Whether the run goes into the history. */
  keep: boolean;
  /** Whether the worker is profiled while it is measured, which makes it slower. */
  profile: boolean;
  help: boolean;
}

export const usage = `pnpm perf [scenario …] [options]
  --rounds <n>  how often each case is measured, instead of what its scenario says
  --quick       smaller contents and two rounds: to develop with
  --smoke       the smallest contents and one round: to see that it works
  --keep        keep the run in perf/history/, and draw its page anew
  --browser <name>
                chromium (if not given) or firefox, which lacks the scenarios and columns that need Chromium's tools
  --profile     write a CPU profile of the worker for each case of the gateway`;

/**
 * @param all scenarios that there are.
 * @throws UsageError for an option, a scenario or a browser that there is not, a bad number, or options that exclude each
 *   other.
 */
export function parseLabOptions(
  args: readonly string[],
  all: readonly Pick<Scenario, 'name' | 'needsChromium'>[],
): LabOptions {
  const { values, positionals } = parse(args);
  const browser = browserNames.find((name) => name === values.browser);
  if (!browser) {
    throw new UsageError(`There is no browser “${values.browser}”. There are ${browserNames.join(', ')}.`);
  }
  const unknown = positionals.find((name) => !all.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    const names = all.map(({ name }) => name).join(', ');
    throw new UsageError(`There is no scenario “${unknown}”. There are ${names}.`);
  }
  const possible = all.filter(({ needsChromium }) => browser === 'chromium' || !needsChromium);
  const known = possible.map(({ name }) => name);
  const impossible = positionals.find((name) => !known.includes(name));
  if (impossible !== undefined) throw new UsageError(`Only Chromium can measure “${impossible}”.`);
  if (values.quick && values.smoke) throw new UsageError('--quick and --smoke exclude each other.');
  const scale = values.smoke ? 'smoke' : values.quick ? 'quick' : 'full';
  if (values.keep && scale !== 'full') {
    throw new UsageError(`A run of --${scale} is too small to be stored.`);
  }
  if (browser !== 'chromium' && (values.keep || values.profile)) {
    throw new UsageError('--keep and --profile are for Chromium only.');
  }
  if (values.keep && values.profile)
    throw new UsageError('A run with a profile is slower, so it is not stored.');
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1 && rounds <= 1000)) {
    throw new UsageError(`--rounds is “${values.rounds}”; it must be a whole number from 1 to 1000.`);
  }
  return {
    scenarios: known.filter((name) => positionals.length === 0 || positionals.includes(name)),
    ...(rounds !== undefined && { rounds }),
    scale,
    browser,
    keep: values.keep,
    profile: values.profile,
    help: values.help,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        quick: { type: 'boolean', default: false },
        smoke: { type: 'boolean', default: false },
        browser: { type: 'string', default: 'chromium' },
        keep: { type: 'boolean', default: false },
        profile: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`);
  }
}
