import {
  type Answer,
  expect,
  fetchIn,
  type Gateway,
  type HostConfig,
  test,
  trustSite,
} from '../support/chromium.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive, sha256 } from '../support/tar.ts';

const marker = (where: string) => `<script>document.title = 'ran in ${where}'</script>`;

let site: string;
let open: (config?: Partial<HostConfig>) => Promise<Gateway>;

test.beforeEach(async ({ startPeer, openGateway, folder }) => {
  const peer = await startPeer();
  site = await publish(
    makeTarchive(folder, {
      'index.html': `<title>quiet</title><p>front page</p>${marker('html')}<script src="a.js"></script>`,
      'a.js': 'document.title = "ran in a file"',
      'picture.svg': `<svg xmlns="http://www.w3.org/2000/svg"><title>quiet</title>${marker('svg')}</svg>`,
      'frame.html': '<iframe src="index.html"></iframe><iframe src="/-/stats"></iframe>',
      'folder/no-extension': '%PDF-1.7 and so on',
      'large.bin': noise(5, 3_000_000),
    }),
    peer,
  );
  open = (config) => openGateway({ peers: [peer.url], ...config });
});

test('a range that is streamed is as exact as one that is not', async () => {
  const gateway = await open();
  const large = noise(5, 3_000_000);
  const answer = await gateway.fetch(`/${site}/large.bin`, { headers: { Range: 'bytes=100001-2900000' } });
  expect([answer.status, answer.size]).toEqual([206, 2_800_000]);
  expect(answer.sha256).toBe(sha256(large.subarray(100_001, 2_900_001)));
});

test('a folder is listed as a page for users and as JSON for programs', { tag: '@full' }, async () => {
  const gateway = await open();
  const page = await gateway.openPage(`/${site}/folder`);
  await expect(page).toHaveURL(`${gateway.url}/${site}/folder/`);
  await expect(page.getByRole('heading')).toHaveText('Contents of folder/');
  const expected = [
    { path: 'folder/no-extension', display: 'no-extension', modified: 0, size: 18, path_type: 'FILE' },
  ];
  for (const answer of [
    await gateway.fetch(`/${site}/folder/?format=json`),
    await gateway.fetch(`/${site}/folder/`, { headers: { Accept: 'application/json' } }),
  ]) {
    expect(answer.headers['content-type']).toContain('application/json');
    expect(JSON.parse(answer.text)).toEqual(expected);
  }
});

test.describe('a site that is not trusted', { tag: '@full' }, () => {
  test('runs no scripts in its pages, its pictures or its script files', async () => {
    const gateway = await open();
    const page = await gateway.openPage(`/${site}/`);
    await expect(page.getByText('front page')).toBeVisible();
    await expect(page).toHaveTitle('quiet');
    await page.goto(`${gateway.url}/${site}/picture.svg`);
    expect(await page.evaluate(() => document.title)).toBe('quiet');
    await page.goto(`${gateway.url}/${site}/frame.html`);
    await expect(page.frameLocator('iframe').first().getByText('front page')).toBeVisible();
    expect(await page.frames()[1]!.evaluate(() => document.title)).toBe('quiet');
  });

  test('runs them once the user trusts it', async () => {
    const gateway = await open();
    const page = await gateway.shell.context().newPage();
    await page.goto(`${gateway.url}/${site}/`);
    await trustSite(page);
    await expect(page).toHaveTitle('ran in a file');
    await page.goto(`${gateway.url}/${site}/picture.svg`);
    await expect.poll(() => page.evaluate(() => document.title)).toBe('ran in svg');
  });
});

test.describe('a site that the host trusts', { tag: '@full' }, () => {
  test('runs scripts without a question', async () => {
    const gateway = await open({ trusted: [site] });
    const page = await gateway.openPage(`/${site}/`);
    await expect(page).toHaveTitle('ran in a file');
  });

  test('cannot use the gateway’s own endpoints', async () => {
    const gateway = await open({ trusted: [site] });
    const page = await gateway.openPage(`/${site}/frame.html`);
    const refused = ({ status, text }: Answer) => [status, JSON.parse(text).code];
    for (const name of ['stats', 'activity', 'cache', 'peers', 'config', 'sites', 'trust', 'health']) {
      expect(refused(await fetchIn(page, `/-/${name}`))).toEqual([403, 'REFUSED']);
    }
    expect(refused(await fetchIn(page, `/-/trust?address=${site}`, { method: 'DELETE' }))).toEqual([
      403,
      'REFUSED',
    ]);
    // Nor read them in a frame.
    const frame = page.frames().find((frame) => frame.url().includes('/-/'));
    expect((await frame?.content()) ?? '').not.toContain('startedAt');
    // The shell may.
    expect((await gateway.fetch('/-/stats')).status).toBe(200);
  });

  test('cannot register a worker on the gateway’s origin', async () => {
    const gateway = await open({ trusted: [site] });
    const page = await gateway.openPage(`/${site}/`);
    const outcome = await page.evaluate(
      (script) =>
        navigator.serviceWorker.register(script).then(
          () => 'registered',
          () => 'refused',
        ),
      `/${site}/a.js`,
    );
    expect(outcome).toBe('refused');
  });
});
