import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from '../support/chromium.ts';
import { fromRoot } from '../support/paths.ts';

test('the embedding example of npm start shows content of the sample site', { tag: '@full' }, async ({
  page,
  folder,
}) => {
  const script = "import('./src/cli/serve.mjs').then(({ serve }) => serve())";
  const started = spawn(process.execPath, ['--eval', script], {
    cwd: fromRoot(''),
    env: { ...process.env, ANTWAY_DATA: folder, ANTWAY_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(started, 'exit');
  try {
    let origin: string | undefined;
    for await (const line of createInterface({ input: started.stdout })) {
      origin = /Another site.*: (http:\S+)\//.exec(line)?.[1];
      if (origin) break;
    }
    expect(origin).toBeDefined();
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && message.text().startsWith('Antway')) problems.push(message.text());
    });
    await page.goto(`${origin}/`);

    const picture = page.getByRole('img', { name: 'Light on shallow water over dark stones' });
    await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(640);
    const film = page.locator('video');
    await expect.poll(() => film.evaluate((video: HTMLVideoElement) => video.videoWidth)).toBeGreaterThan(0);
    await expect(page.getByRole('columnheader', { name: 'limpets' })).toBeVisible();
    await expect(
      page.getByText(/^Antway \S+ has answered [1-9]\d* requests in this browser\.$/),
    ).toBeVisible();
    await expect(page.frameLocator('iframe').getByRole('heading', { level: 1 })).toBeVisible();
    expect(
      await page.locator('header').evaluate((header) => getComputedStyle(header).backgroundImage),
    ).toContain(`${origin}/ant/sample/assets/img/zones.webp`);
    await page.getByRole('link', { name: 'Low Tide' }).click();
    await expect(page).toHaveURL(`${origin}/ant/sample/`);
    await expect(page).toHaveTitle(/Low Tide/);
    expect(problems).toEqual([]);
  } finally {
    started.kill('SIGTERM');
    await ended;
  }
});
