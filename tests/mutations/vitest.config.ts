import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';
import { folders } from './folders.mjs';

/** The folder that `run.mjs` mutates. */
const names = folders[process.env.ANTWAY_MUTATED_FOLDER ?? ''] ?? [];

export default defineConfig({
  ...base,
  test: {
    include: names.map((name) => `tests/unit/${name}.test.ts`),
    testTimeout: 60_000,
    setupFiles: [base.test?.setupFiles ?? [], 'tests/mutations/skip-slow.ts'].flat(),
  },
});
