import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineConfig, type LaunchOptions, type Project } from '@playwright/test';

/** `ANTWAY_CHROMIUM` (which `npm test` sets), else a browser that is on the PATH. */
function chromiumPath(): string {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const path = process.env.ANTWAY_CHROMIUM ?? candidates.find((candidate) => existsSync(candidate));
  if (!path) throw new Error('There is no Chromium on the PATH: install one, or name it in ANTWAY_CHROMIUM.');
  return path;
}

/** Parts of Chromium that are off. The switch replaces the list of Playwright 1.65, so it names those of them that matter. */
const disabledFeatures = [
  // Each window loads two hidden pages for the address bar, which take about 0.7 s of processor time.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  // A process that waits for the next page.
  'SpareRendererForSitePerProcess',
  // Playwright's, except for third-party storage partitioning: users have it too.
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
];

function launchOptions(executablePath: string): LaunchOptions {
  return {
    executablePath,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${disabledFeatures.join(',')}`,
      // A name that is not loopback, so that its pages are no secure context.
      '--host-resolver-rules=MAP insecure.test 127.0.0.1',
    ],
  };
}

/** These tests need all of Chromium: profiles that outlive it, its PDF viewer, settings, permissions and installed apps. */
const wholeBrowser = [
  'http/**/*.test.ts',
  'browser/blocked-storage.test.ts',
  'browser/isolation.test.ts',
  'browser/killed-payment.test.ts',
  'browser/language.test.ts',
  'browser/lasting-address.test.ts',
  'browser/lasting-address-passkey.test.ts',
  'browser/launch.test.ts',
  'browser/media.test.ts',
  'browser/offline.test.ts',
  'browser/pins.test.ts',
  'browser/stored-forms.test.ts',
  'browser/update.test.ts',
  'browser/journeys/local-access.test.ts',
  'browser/journeys/viewer.test.ts',
  // Windows that open each other, and permissions.
  'security/lasting-address.test.ts',
  'security/move-library.test.ts',
  'security/passkeys.test.ts',
  'security/viewer.test.ts',
  // The full tier runs all attacks in the browser that users have.
  ...(process.env.ANTWAY_TIER === 'full' ? ['security/**/*.test.ts'] : []),
];

/** One test of each area: these run in Chromium too, and `npm test -- --quick` runs only these. */
const smokeTag = /@smoke/;
/** Only `npm run test:full` runs these, and Playwright if you start it yourself. */
const fullTag = /@full/;

/** The tests of a tier, among those of a project. `tests/run.mjs` sets the tier. */
function tests(grep?: RegExp, grepInvert: RegExp[] = []): Pick<Project, 'grep' | 'grepInvert'> {
  const tier = process.env.ANTWAY_TIER;
  return {
    ...(tier === 'quick' ? { grep: smokeTag } : grep && { grep }),
    grepInvert: [...grepInvert, ...(tier === 'quick' || tier === 'default' ? [fullTag] : [])],
  };
}

/**
 * Each test runs in one of them. The headless shell is Chromium's engine without windows, settings and dialogs, and takes
 * 0.7 times the processor time. `npm test` sets `ANTWAY_HEADLESS_SHELL` if it is of Chromium's version.
 */
function projects(): Project[] {
  const headlessShell = process.env.ANTWAY_HEADLESS_SHELL;
  if (!headlessShell) return [{ name: 'chromium', ...tests() }];
  return [
    { name: 'chromium', testMatch: wholeBrowser, ...tests() },
    { name: 'chromium, one test of each area', testIgnore: wholeBrowser, ...tests(smokeTag) },
    {
      name: 'headless shell',
      testIgnore: wholeBrowser,
      ...tests(undefined, [smokeTag]),
      use: { launchOptions: launchOptions(headlessShell) },
    },
  ];
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
  // Every test has peers, a host and a browser profile of its own, and waits much; three at a time fill two cores.
  workers: 3,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  // Continuous integration can be several times slower than a quiet machine.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  use: { launchOptions: launchOptions(chromiumPath()) },
  projects: projects(),
});
