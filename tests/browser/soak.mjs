// `pnpm soak`: the soak test alone, for as long as is wanted. Needs what `npm test` needs, and the build in `dist/`.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, seed: { type: 'string' } },
  // pnpm hands on the `--` that npm takes away.
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error(`--seconds ${values.seconds} is not a number of seconds.`);

const root = fileURLToPath(new URL('../..', import.meta.url));
const playwright = fileURLToPath(new URL('../../node_modules/@playwright/test/cli.js', import.meta.url));
const child = spawn(process.execPath, [playwright, 'test', 'tests/browser/soak.test.ts', '--reporter=list'], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    ANTWAY_SOAK_SECONDS: String(seconds),
    ...(values.seed && { ANTWAY_SOAK_SEED: values.seed }),
  },
});
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
