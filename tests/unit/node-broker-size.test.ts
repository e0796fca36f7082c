import { brotliCompressSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { expect, it } from 'vitest';
import { fromRoot } from '../support/paths.ts';

/** Of the modules alone. Together with the rest of the worker they compress to 0.7 of this. */
const budget = 2_100;

it(`the worker's half of the access to nodes has at most ${budget.toLocaleString('en')} bytes compressed`, async () => {
  const [{ output }] = (await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: fromRoot('src/nodes/broker.ts'), formats: ['es'] },
      rolldownOptions: {
        output: { minify: true },
        // The worker has these in any case.
        external: (id) => /(^|\/)(util\/[\w-]+|address|errors|limits)\.ts$/.test(id),
      },
    },
  })) as [Rolldown.RolldownOutput];
  const [{ code }] = output;
  expect(code).toContain('no-leader');
  const bytes = brotliCompressSync(code).length;
  console.log(`the worker's half of the access to nodes: ${bytes.toLocaleString('en')} bytes, Brotli`);
  expect(bytes).toBeLessThanOrEqual(budget);
});
