import { defineConfig } from '@playwright/test';
import config from '../../playwright.config.ts';

/** Remakes `docs/screenshots/` from the build in `dist/`: `npx playwright test -c tests/browser/screenshots.config.ts` */
export default defineConfig({
  ...config,
  globalSetup: [],
  testDir: '.',
  testMatch: 'screenshots.ts',
  outputDir: '../../test-results/screenshots',
  workers: 1,
  timeout: 180_000,
});
