import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { pageStyle } from './build/page-style.ts';
import { portableBrotliEncoder } from './build/portable-wasm.ts';
import packageJson from './package.json' with { type: 'json' };

const folder = 'tests/unit';
const files = readdirSync(join(import.meta.dirname, folder)).filter((name) => name.endsWith('.test.ts'));

/** The files whose first lines have one of these tags. */
const taggedWith = (tags: RegExp): string[] =>
  files
    .map((name) => `${folder}/${name}`)
    .filter((path) => tags.test(readFileSync(join(import.meta.dirname, path), 'utf8')));

const isolated = taggedWith(/^\/\/ @module-tag isolated$/m);
const slow = taggedWith(/^\/\/ @module-tag (slow|full)$/m);

export default defineConfig({
  define: { __ANTWAY_VERSION__: JSON.stringify(packageJson.version) },
  plugins: [pageStyle(), portableBrotliEncoder()],
  test: {
    tags: [
      { name: 'full', description: 'Only `npm run test:full` runs it.' },
      { name: 'slow', description: 'Not for `npm test -- --quick`: it takes seconds.' },
      { name: 'isolated', description: 'The file mocks modules or leaves state in them: it has its own.' },
      { name: 'unix', description: 'It needs the peer in Rust, or the local chain.' },
      { name: 'linux', description: 'It needs the S3 server.' },
    ],
    // Continuous integration can be several times slower than a quiet machine.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Many tests wait for another program. On two cores, three at a time take 0.86 of the time of two.
    maxWorkers: availableParallelism() + 1,
    // Files of the project “shared” share their modules in few processes, which takes half the time.
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          isolate: false,
          include: [`${folder}/*.test.ts`],
          exclude: [...isolated, ...slow],
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
      { extends: true, test: { name: 'slow', include: slow } },
    ],
    globalSetup: 'tests/support/global-setup.ts',
    setupFiles: ['tests/support/configure-fast-check.ts', 'tests/support/compare-bytes.ts'],
  },
});
