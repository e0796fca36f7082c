import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/firefox/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One browser at a time is what two cores have room for.
    fileParallelism: false,
  },
});
