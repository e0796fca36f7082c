import type { Page } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import { noise, publish, RepeatingFile } from '../support/publish.ts';
import { tour, withOwnOrigins } from './tour.ts';

const filmBytes = 140_000_000;
const activityMs = 15_000;

/** Reads now more and now less of a film, as a user does who looks for a scene, and then begins to play it. */
function watch(page: Page, path: string): Promise<void> {
  return page.evaluate(
    async ([path, size, activityMs]) => {
      const end = performance.now() + activityMs;
      for (let i = 1; performance.now() < end; i++) {
        const start = Math.floor(((i * 0.618) % 1) * size * 0.3);
        const length = Math.floor((0.01 + 0.06 * ((i * 0.382) % 1) ** 2) * size);
        const response = await fetch(path, { headers: { Range: `bytes=${start}-${start + length}` } });
        await response.arrayBuffer();
        await new Promise((resolve) => setTimeout(resolve, 400));
      }
      const reader = (await fetch(path)).body!.getReader();
      void (async () => {
        while (!(await reader.read()).done) await new Promise((resolve) => setTimeout(resolve, 60));
      })();
    },
    [path, filmBytes, activityMs] as const,
  );
}

tour('6 live', async ({ album, t, startPeer, startHost, openShell }) => {
  const peers = [await startPeer(), await startPeer()];
  const film = await publish(new RepeatingFile(filmBytes), peers[0]!, peers[1]!);
  const letter = await publish(noise(3, 400_000), peers[0]!);
  const root = withOwnOrigins(await startHost({ peers: peers.map(({ url }) => url), names: { film } }));
  const url = `${root}/#live`;
  const shell = await openShell(url);
  const region = (name: string) => shell.getByRole('region', { name });

  await album.load(shell, 'idle', url, () =>
    expect(region(t.live.throughput).locator('canvas')).toBeVisible(),
  );
  await shell.evaluate((path) => fetch(path).then((answer) => answer.arrayBuffer()), `/${letter}/chart.bin`);
  await watch(shell, '/film/low-tide.mp4');
  await expect(region(t.live.transfers).getByRole('progressbar').first()).toBeVisible();
  await shell.waitForTimeout(1_500);
  await album.shoot(shell, 'transfers', {
    copies: { 'docs/screenshots/live-dark.png': [1280, 'dark'] },
  });
});
