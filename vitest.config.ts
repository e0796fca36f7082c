import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { pageStyle } from './build/page-style.ts';
import { portableBrotliEncoder } from './build/portable-wasm.ts';
import packageJson from './package.json' with { type: 'json' };

export default defineConfig({
  define: { __ANTWAY_VERSION__: JSON.stringify(packageJson.version) },
  plugins: [pageStyle(), portableBrotliEncoder()],
  test: {
    tags: [
      { name: 'full', description: 'Only `npm run test:full` runs it.' },
      { name: 'unix', description: 'It needs the peer in Rust, or the local chain.' },
      { name: 'linux', description: 'It needs the S3 server.' },
    ],
    include: ['tests/unit/**/*.test.ts'],
    // Continuous integration can be several times slower than a quiet machine.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Many tests wait for another program. On two cores, three at a time take 0.86 of the time of two.
    maxWorkers: availableParallelism() + 1,
    globalSetup: 'tests/support/global-setup.ts',
    setupFiles: 'tests/support/configure-fast-check.ts',
  },
});
