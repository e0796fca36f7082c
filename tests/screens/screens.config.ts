import { defineConfig } from '@playwright/test';
import config from '../../playwright.config.ts';

const { projects: _, ...rest } = config;

/** Takes the pictures of all screens from the build in `dist/`: see `npm run screenshots`. */
export default defineConfig({
  ...rest,
  globalSetup: './empty-album.ts',
  globalTeardown: './contact-sheet.ts',
  testDir: '.',
  testMatch: '*.screens.ts',
  outputDir: '../../test-results/screens-failures',
  timeout: 300_000,
  use: { ...config.use, actionTimeout: 20_000 },
});
