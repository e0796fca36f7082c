import { limits } from '../../src/limits.ts';
import { errorCode, expect, sceneOfFile, test } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { linesOf, makeTarchive } from '../support/tarchive.ts';

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  return { peer, gateway: await openWorker({ peers: [peer.url] }) };
});

// The worker still answers after every archive.
test.afterEach(async () => {
  expect((await scene().gateway.fetch('/-/health')).status).toBe(200);
});

test('paths that leave the archive, are absolute or hold control characters are refused by name; unusual names are served', {
  tag: '@smoke',
}, async () => {
  const { peer, gateway } = scene();
  const content = 'what every entry points to';
  const refused = ['../up.txt', 'a/../../b.txt', '/etc/passwd', '..', 'folder/', 'a\0b.txt'];
  const served = [
    '...',
    'a/./b.txt',
    'a//b.txt',
    'C:\\x.txt',
    '__proto__',
    'constructor',
    '-/stats',
    'sw.js',
  ];
  served.push('x'.repeat(3_000), "<img src=x onerror='x'>.txt", '\u202etxt.exe');
  const tar = await makeTarchive({ 'real.txt': content }, ([real]) =>
    [...['real.txt'], ...refused, ...served]
      .map((path) => `${path} ${real!.offset} ${real!.size}\n`)
      .join(''),
  );
  const address = await publish(tar, peer);
  const listed = JSON.parse((await gateway.fetch(`/${address}/?format=json`)).text) as { path: string }[];
  expect(listed.length).toBeGreaterThan(5);
  for (const path of ['...', '__proto__', 'constructor', '-/stats', 'sw.js', 'x'.repeat(3_000)]) {
    const answer = await gateway.fetch(`/${address}/${encodeURI(path)}`);
    expect([path, answer.status, answer.text]).toEqual([path, 200, content]);
  }
  expect((await gateway.fetch(`/${address}/a//b.txt`)).text).toBe(content);
  expect((await gateway.fetch(`/${address}/etc/passwd`)).status).toBe(404);
  const page = await gateway.openPage(`/${address}/`);
  await expect(page.getByRole('listitem')).toHaveCount(refused.length);
  expect(await page.locator('img').count()).toBe(0);
});

// In the worker: in this process, a loop without an end could not be ended by the limit of time for tests.
test('patterns with exponential backtracking match in bounded time', async () => {
  const { peer, gateway } = scene();
  const routeMap = { [`${'*a'.repeat(60)}b`]: 'index.html', [`${'{a,a}'.repeat(50)}*c`]: 'index.html' };
  const address = await publish(
    await makeTarchive({ 'app-conf.json': JSON.stringify({ routeMap }), 'index.html': 'home', 'x.txt': 'x' }),
    peer,
  );
  expect((await gateway.fetch(`/${address}/${'a'.repeat(2_000)}`)).status).toBe(404);
  expect((await gateway.fetch(`/${address}/x.txt`)).text).toBe('x');
});

test('an archive of 100,000 entries opens, also as a page; one more entry is too large', {
  tag: '@full',
}, async () => {
  const { peer, gateway } = scene();
  const content = 'one content for all';
  const archive = (count: number) =>
    makeTarchive({ 'real.txt': content }, ([real]) => {
      let index = linesOf([real!]);
      for (let i = 1; i < count; i++)
        index += `folder-${i % 10}/file-${i}.txt ${real!.offset} ${real!.size}\n`;
      return index;
    });
  const address = await publish(await archive(limits.archiveEntries), peer);
  expect((await gateway.fetch(`/${address}/folder-9/file-99999.txt`)).text).toBe(content);
  const listed = await gateway.shell.evaluate(
    async (url) => ((await (await fetch(url)).json()) as unknown[]).length,
    `/${address}/folder-3/?format=json`,
  );
  expect(listed).toBe(10_000);

  const page = await gateway.openPage(`/${address}/folder-3/`);
  await expect(page.getByRole('heading')).toHaveText('Contents of folder-3/');
  await expect(page.getByText('0 folders, 10,000 files.')).toBeVisible();
  // By keyboard: to the first link after the two of the formats, the one of the app, and the one that leads up.
  for (let i = 0; i < 5; i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.locator('body')).toHaveText(content);

  const tooMany = await gateway.fetch(`/${await publish(await archive(limits.archiveEntries + 1), peer)}/`);
  expect([tooMany.status, errorCode(tooMany)]).toEqual([507, 'TOO_LARGE']);
});
