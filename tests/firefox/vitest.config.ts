import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    tags: [{ name: 'full', description: 'Only `npm run test:full` runs it.' }],
    include: ['tests/firefox/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Beside the other suites, a page may need seconds for its next step.
    expect: { poll: { timeout: 30_000 } },
    // Each file starts a browser and waits much of its time.
    maxWorkers: 2,
  },
});
