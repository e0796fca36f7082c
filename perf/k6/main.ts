// `pnpm perf:k6`: k6 puts AntTP's own shape of load (8 pictures of 437 KB on average, 10 users, 1,000 iterations) on
// what speaks HTTP, and by its browser module on the gateway.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import playwright from '../../playwright.config.ts';
import { fromRoot } from '../../tests/support/paths.ts';
import { expectedOf, noiseFiles, pictureSizes, sha256 } from '../lab/content.ts';
import { Lab, LabMachine } from '../lab/lab.ts';
import type { PublishedFile } from '../lab/publishing.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { markdownTable } from '../numbers.ts';
import { findK6 } from './k6.ts';

/** Of `handleSummary`, what is used here. */
interface Summary {
  metrics: Record<string, { values: Record<string, number> } | undefined>;
  state: { testRunDurationMs: number };
}

interface Target {
  name: string;
  script: 'pictures.js' | 'browser.js';
  plan: object;
  users: number;
  iterations: number;
  /** Of one iteration. */
  bytes: number;
  environment?: Record<string, string>;
}

const { values } = parseArgs({
  options: {
    iterations: { type: 'string', default: '1000' },
    users: { type: 'string', default: '10' },
    'browser-users': { type: 'string', default: '2' },
    'browser-iterations': { type: 'string', default: '40' },
  },
});
const counts = Object.fromEntries(
  Object.entries(values).map(([name, value]) => {
    if (!/^[1-9]\d{0,6}$/.test(value))
      throw new Error(`--${name} is “${value}”; it must be a positive number.`);
    return [name, Number(value)];
  }),
) as Record<keyof typeof values, number>;

const k6 = await findK6();
const machine = await LabMachine.start();
const lab = new Lab('full', machine);
try {
  const description = describeMachine(lab.browser.version);
  const rows: string[][] = [];
  for (const target of await targets()) {
    console.error(`${target.name} …`);
    rows.push(row(target, await runK6(target)));
  }
  const head = ['what', 'users', 'iterations', 'MB/s', 'requests/s', 'p50 ms', 'p95 ms', 'p99 ms', 'right'];
  const text = `${machineLine(description)} k6: ${(await promisify(execFile)(k6, ['version'])).stdout.trim()}.\n\n${markdownTable([head, ...rows])}\n`;
  console.log(text);
  await mkdir(fromRoot('test-results/perf'), { recursive: true });
  await writeFile(fromRoot('test-results/perf/k6.md'), text);
  if (rows.some((cells) => cells.at(-1) !== 'all')) process.exitCode = 1;
} finally {
  await lab.close();
  await machine.close();
}

async function targets(): Promise<Target[]> {
  const files = noiseFiles(11, pictureSizes(8), 'jpg');
  const bytes = files.reduce((sum, { source }) => sum + source.size, 0);
  const expected = await Promise.all(files.map(({ source }) => expectedOf(source, source.read.bind(source))));
  const published: PublishedFile[] = [];
  for (const { source } of files) published.push(await lab.publish(source));
  const archive = await lab.publishArchive(files);
  await lab.layOut('pictures', files);
  const page = await lab.openBaseline('static');
  const site = new URL(page.url()).origin;
  const records = await Promise.all(
    published
      .flatMap((file) => file.records)
      .map(async (address) => {
        const url = `${lab.peer.url}/chunk/${address}`;
        const body = new Uint8Array(await (await fetch(url)).arrayBuffer());
        return { url, size: body.length, sha256: sha256([body]) };
      }),
  );
  const bodiesAt = (urlOf: (i: number) => string) => expected.map((body, i) => ({ ...body, url: urlOf(i) }));
  const overHttp = (name: string, bodies: { size: number }[]): Target => ({
    name,
    script: 'pictures.js',
    plan: { bodies },
    users: counts.users,
    iterations: counts.iterations,
    bytes: bodies.reduce((sum, { size }) => sum + size, 0),
  });

  const gateway = await lab.openGateway();
  const { executablePath, args } = playwright.use!.launchOptions!;
  const throughGateway = (name: string, pathOf: (i: number) => string): Target => ({
    name,
    script: 'browser.js',
    plan: {
      host: gateway.host.url,
      readerPath: new URL(gateway.page.url()).pathname,
      bodies: expected.map((body, i) => ({ ...body, path: pathOf(i) })),
    },
    users: counts['browser-users'],
    iterations: counts['browser-iterations'],
    bytes,
    environment: {
      K6_BROWSER_EXECUTABLE_PATH: executablePath!,
      K6_BROWSER_HEADLESS: 'true',
      K6_BROWSER_ARGS: args!.map((arg) => arg.replace(/^--/, '')).join(','),
    },
  });
  const { antTp } = lab;
  return [
    overHttp(
      'static server',
      bodiesAt((i) => `${site}/static/pictures/${files[i]!.name}`),
    ),
    overHttp('peer, chunks by HTTP', records),
    ...(antTp
      ? [
          overHttp(
            'AntTP, small files',
            bodiesAt((i) => `${antTp.url}/${published[i]!.address}`),
          ),
          overHttp(
            'AntTP, tarchive',
            bodiesAt((i) => `${antTp.url}/${archive.address}/${files[i]!.name}`),
          ),
        ]
      : []),
    throughGateway('gateway in k6’s Chromium, small files', (i) => `/${published[i]!.address}`),
    throughGateway('gateway in k6’s Chromium, tarchive', (i) => `/${archive.address}/${files[i]!.name}`),
  ];
}

async function runK6({ script, plan, users, iterations, environment }: Target): Promise<Summary> {
  const folder = lab.newFolder();
  const planFile = join(folder, 'plan.json');
  const summary = join(folder, 'summary.json');
  await writeFile(planFile, JSON.stringify({ ...plan, summary }));
  const env = {
    ...process.env,
    ...environment,
    PLAN: planFile,
    USERS: String(users),
    ITERATIONS: String(iterations),
    K6_NO_USAGE_REPORT: 'true',
  };
  // `--include-system-env-vars` is on for `k6 run`: the script finds all of these in `__ENV`.
  await promisify(execFile)(k6, ['run', '--quiet', '--no-color', fromRoot(`perf/k6/${script}`)], {
    env,
  }).catch((error: { stderr: string; code: number }) => {
    // 99: a threshold was missed, which the summary tells.
    if (error.code !== 99) throw new Error(`k6 failed (${error.code}):\n${error.stderr}`);
  });
  return JSON.parse(await readFile(summary, 'utf8')) as Summary;
}

function row({ name, script, users, iterations, bytes }: Target, { metrics, state }: Summary): string[] {
  const of = (metric: string, value: string) => metrics[metric]?.values[value] ?? Number.NaN;
  const latency = script === 'pictures.js' ? 'http_req_duration' : 'antway_read_ms';
  const seconds = state.testRunDurationMs / 1000;
  const speed =
    script === 'pictures.js'
      ? (bytes * iterations) / 1e6 / seconds
      : // Of all users together, who read at the same time; their browsers' start is not in it.
        of('antway_megabytes_per_second', 'med') * users;
  return [
    name,
    String(users),
    String(iterations),
    speed.toFixed(1),
    script === 'pictures.js' ? of('http_reqs', 'rate').toFixed(0) : '–',
    ...['med', 'p(95)', 'p(99)'].map((value) => of(latency, value).toFixed(1)),
    of('checks', 'rate') === 1 ? 'all' : `${(of('checks', 'rate') * 100).toFixed(1)} %`,
  ];
}
