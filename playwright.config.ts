import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineConfig } from '@playwright/test';

/** `ANTWAY_CHROMIUM` (which `npm test` sets), else a browser that is on the PATH. */
function chromiumPath(): string {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const path = process.env.ANTWAY_CHROMIUM ?? candidates.find((candidate) => existsSync(candidate));
  if (!path) throw new Error('There is no Chromium on the PATH: install one, or name it in ANTWAY_CHROMIUM.');
  return path;
}

export default defineConfig({
  testDir: 'tests',
  testMatch: [
    'browser/**/*.test.ts',
    'http/**/*.test.ts',
    'security/**/*.test.ts',
    'third-party/**/*.test.ts',
  ],
  globalSetup: './tests/browser/global-setup.ts',
  outputDir: 'test-results/browser',
  // Every test has peers, a host and a browser profile of its own; two at a time fill two cores.
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  timeout: 60_000,
  expect: { timeout: 15_000 },
  use: {
    launchOptions: {
      executablePath: chromiumPath(),
      args: [
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-gpu',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // A name that is not loopback, so that its pages are no secure context.
        '--host-resolver-rules=MAP insecure.test 127.0.0.1',
      ],
    },
  },
});
