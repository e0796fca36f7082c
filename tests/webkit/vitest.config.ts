import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/webkit/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Beside the other suites, a page may need seconds for its next step.
    expect: { poll: { timeout: 30_000 } },
    // `npm test` runs two Firefoxes at the same time, and two cores have no room for a fourth browser.
    fileParallelism: false,
  },
});
