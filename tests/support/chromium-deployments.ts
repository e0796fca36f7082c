import { rmSync } from 'node:fs';
import { test as base, type HostConfig } from './chromium.ts';
import { buildNext, Deployment } from './deployment.ts';

interface Fixtures {
  /** Starts a host that serves `dist`. */
  deploy(config: HostConfig): Promise<Deployment>;
}

export const test = base.extend<Fixtures, { nextBuild: string }>({
  // In a browser process of its own: one that has run many tests may let go of a replaced worker only after minutes.
  context: async ({ playwright, launchOptions }, use) => {
    const browser = await playwright.chromium.launch(launchOptions);
    await use(await browser.newContext());
    await browser.close();
  },

  /** The folder of a newer build. */
  nextBuild: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs
    async ({}, use) => {
      const folder = await buildNext();
      await use(folder);
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 120_000 },
  ],

  deploy: async ({ startPeer, folder }, use) => {
    const started: Deployment[] = [];
    await use(async (config) => {
      const deployment = await Deployment.start(folder, config, (flags) =>
        startPeer({ flags, webTransport: 'none' }),
      );
      started.push(deployment);
      return deployment;
    });
    await Promise.all(started.map((deployment) => deployment.close()));
  },
});
