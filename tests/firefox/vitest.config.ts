import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/firefox/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Beside the other suites, a page may need seconds for its next step.
    expect: { poll: { timeout: 30_000 } },
    // `npm test` runs WebKitGTK at the same time, and two cores have no room for a third browser.
    fileParallelism: false,
  },
});
