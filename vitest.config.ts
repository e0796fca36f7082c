import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { pageStyle } from './build/page-style.ts';
import { portableBrotliEncoder } from './build/portable-wasm.ts';
import packageJson from './package.json' with { type: 'json' };

export default defineConfig({
  define: { __ANTWAY_VERSION__: JSON.stringify(packageJson.version) },
  plugins: [pageStyle(), portableBrotliEncoder()],
  test: {
    include: ['tests/unit/**/*.test.ts'],
    // Continuous integration can be several times slower than a quiet machine.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // The default leaves one processor free: of two, half of them.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: 'tests/support/global-setup.ts',
    setupFiles: 'tests/support/configure-fast-check.ts',
  },
});
