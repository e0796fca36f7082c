import type { Page } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import { attack, attacks, verdict } from './attack.ts';
import { Outside, picture, ran, scenesOfAttacks } from './hostile-site.ts';

const scenes = scenesOfAttacks();

const frames = 'Frames';
const page = (body: string) => `<!doctype html><title>Hostile</title>${body}`;
const scripted = page(`<script>${ran('framed')}; console.log('RAN ' + location.hash)</script><p>Victim</p>`);

/** Ways for a page without trust to frame a trusted one. The URL is that of a page of its own for each of them. */
const framings: readonly [how: string, body: (victim: string, number: number) => string][] = [
  ['directly, with a fragment', (victim) => `<iframe src="${victim}#evil"></iframe>`],
  ['without a referrer', (victim) => `<iframe src="${victim}" referrerpolicy="no-referrer"></iframe>`],
  ['as object and embed', (victim) => `<object data="${victim}"></object><embed src="${victim}">`],
  ['from a `srcdoc` frame', (victim) => `<iframe srcdoc="<iframe src='${victim}'></iframe>"></iframe>`],
  ['from a frame of its own', (_, number) => `<iframe src="inner-${number}.html"></iframe>`],
];

const stayEmpty = { outcome: 'The frame stays empty, and no script runs.' };
const byLink = {
  name: 'A page without trust has a link that loads a trusted page into its frame',
  outcome: 'The frame does not load it.',
};
const byFraming = framings.map(([how]) => ({
  name: `A page without trust frames a trusted page, ${how}`,
  ...stayEmpty,
}));

attacks(frames, 'a page without trust frames a trusted page', [...byFraming, byLink], async () => {
  const scene = await scenes('worker');
  const rows = [...byFraming, byLink];
  const files = rows.map((_, i) => [
    `${i}.html`,
    page(`<script>${ran(`framed ${i}.`)}</script><p>Victim ${i}.</p>`),
  ]);
  const victim = await scene.publish(Object.fromEntries(files), 'trusted');
  const body = framings.map(([, body], i) => body(`/${victim}/${i}.html`, i)).join('');
  const last = rows.length - 1;
  const hostile = await scene.publish(
    {
      'index.html': page(
        `<a href="/${victim}/${last}.html#evil" target="f">into it</a><iframe name="f" src="empty.html"></iframe>${body}`,
      ),
      'empty.html': page('empty'),
      [`inner-${framings.length - 1}.html`]: page(
        `<iframe src="/${victim}/${framings.length - 1}.html"></iframe>`,
      ),
    },
    'restricted',
  );
  const tab = await scene.visit(`/${hostile}/`);
  await tab.getByText('into it').click();
  await scene.settled(tab);
  const contents = (await framedContents(tab)).join();
  for (const [i, { name }] of rows.entries()) {
    verdict(contents, name).not.toContain(`Victim ${i}.`);
    verdict(scene.messages, name).not.toContain(`RAN framed ${i}.`);
  }
  expect(scene.messages).toEqual([]);
  // On its own the victim runs.
  await scene.visit(`/${victim}/0.html`);
  expect(scene.messages).toContain('RAN framed 0.');
});

attack(
  frames,
  'A trusted page frames another trusted page, with a fragment',
  'The framed page is shown without scripts, and only if the other page tells its own URL.',
  async () => {
    const scene = await scenes('worker');
    const victim = await scene.publish(
      { 'index.html': scripted, 'own.html': page('<iframe src="./#own"></iframe>') },
      'trusted',
    );
    const hostile = await scene.publish(
      {
        'index.html': page(
          `<iframe src="/${victim}/#evil"></iframe><iframe src="/${victim}/#hidden" referrerpolicy="no-referrer"></iframe>`,
        ),
      },
      'trusted',
    );
    const tab = await scene.visit(`/${hostile}/`);
    await expect(tab.frameLocator('iframe').nth(0).getByText('Victim')).toBeVisible();
    const hidden = tab.frameLocator('iframe').nth(1).getByRole('heading');
    await expect(hidden).toHaveText('This request was refused');
    expect(scene.messages).toEqual([]);
    await scene.visit(`/${victim}/own.html`);
    await expect.poll(() => scene.messages).toContain('RAN #own');
  },
);

attack(
  frames,
  'A page without trust frames the shell, the endpoints and a third address',
  'None of them is shown.',
  async () => {
    const scene = await scenes('worker');
    const third = await scene.publish({ 'index.html': page('Third') }, 'restricted');
    const hostile = await scene.publish(
      {
        'index.html': page(
          `<iframe src="/"></iframe><iframe src="/index.html"></iframe><iframe src="/-/health"></iframe><iframe src="/${third}/"></iframe><object data="/-/health"></object><embed src="/">`,
        ),
      },
      'restricted',
    );
    const tab = await scene.visit(`/${hostile}/`);
    for (const text of ['Third', '"gateway"', 'id="app"', 'REFUSED']) await expectNowhere(tab, text);
  },
);

attack(
  frames,
  'A trusted page frames the shell and the endpoints',
  'The worker refuses to show them.',
  async () => {
    const scene = await scenes('worker');
    const hostile = await scene.publish(
      { 'index.html': page('<iframe src="/"></iframe><iframe src="/-/health"></iframe>') },
      'trusted',
    );
    const tab = await scene.visit(`/${hostile}/`);
    for (const frame of tab.frames().slice(1)) await expect(frame.locator('body')).toContainText('REFUSED');
  },
);

attack(
  frames,
  'Another site frames content, a listing, the question and an endpoint',
  'The browser shows none of them there.',
  async () => {
    const scene = await scenes('worker');
    await using outside = await Outside.start();
    const decided = await scene.publish({ 'index.html': page('Publishedwords') }, 'restricted');
    const undecided = await scene.publish({ 'index.html': page('Publishedwords') });
    const bare = await scene.publish({ 'a.txt': 'a' }, 'restricted');
    const tab = await scene.context.newPage();
    await tab.goto(outside.url);
    const paths = [`/${decided}/`, `/${undecided}/`, `/${bare}/`, '/-/health', `/${'0'.repeat(64)}`];
    await tab.setContent(paths.map((path) => `<iframe src="${scene.gateway.url}${path}"></iframe>`).join(''));
    await scene.settled(tab);
    for (const text of ['Publishedwords', 'Trust this site', 'a.txt', '"gateway"', 'NOT_FOUND']) {
      await expectNowhere(tab, text);
    }
    expect(tab.frames()).toHaveLength(1 + paths.length);
  },
);

const windows = 'Windows';

attack(
  windows,
  'Another site opens an address and reads whether the window is closed, and how many frames it has',
  'The answer is the same for an address with a decision, an address without one, a listing, an error, an endpoint and a redirect.',
  async () => {
    const scene = await scenes('worker');
    await using outside = await Outside.start();
    const site = { 'index.html': page('<iframe src="f.html"></iframe>Content'), 'f.html': page('') };
    const decided = await scene.publish(site, 'restricted');
    const trusted = await scene.publish({ ...site, 'x.txt': 'x' }, 'trusted');
    const undecided = await scene.publish({ ...site, 'y.txt': 'y' });
    const bare = await scene.publish({ 'a.txt': 'a' }, 'restricted');
    const opener = await scene.context.newPage();
    await opener.goto(outside.url);
    const seen: Record<string, unknown> = {};
    for (const path of [
      `/${decided}/`,
      `/${trusted}/`,
      `/${undecided}/`,
      `/${bare}/`,
      `/${decided}`,
      `/${decided}/none`,
      '/-/health',
    ]) {
      const opening = scene.context.waitForEvent('page');
      const popup = await opener.evaluateHandle((url) => window.open(url), scene.gateway.url + path);
      const tab = await opening;
      await scene.settled(tab);
      seen[path] = await popup.evaluate((popup) => [popup!.closed, popup!.length]);
      expect(await tab.evaluate(() => window.opener)).toBeNull();
      await tab.close();
    }
    expect(new Set(Object.values(seen).map(String))).toEqual(new Set(['true,0']));
    // A window without an opener policy tells.
    const popup = await opener.evaluateHandle(() => window.open('/'));
    expect(await popup.evaluate((popup) => popup!.closed)).toBe(false);
  },
);

attack(
  windows,
  'Another site leaves a message in `window.name` for the content that it opens',
  'The name is empty.',
  async () => {
    const scene = await scenes('worker');
    await using outside = await Outside.start();
    const trusted = await scene.publish({ 'index.html': page('Publishedwords') }, 'trusted');
    const opener = await scene.context.newPage();
    await opener.goto(outside.url);
    const opening = scene.context.waitForEvent('page');
    await opener.evaluate((url) => void window.open(url, 'message'), `${scene.gateway.url}/${trusted}/`);
    const tab = await opening;
    await tab.waitForLoadState();
    await expect(tab).toHaveTitle('Hostile');
    expect(await tab.evaluate(() => window.name)).toBe('');
  },
);

attack(
  windows,
  'A frame of a page without trust leads the whole window away, by a refresh or a link without a click',
  'The window stays.',
  async () => {
    const scene = await scenes('worker');
    await using outside = await Outside.start();
    const hostile = await scene.publish(
      {
        'index.html': page(
          `<iframe src="f.html"></iframe><iframe srcdoc='<base target="_top"><meta http-equiv="refresh" content="0;url=${outside.url}/srcdoc">'></iframe>`,
        ),
        'f.html': page(
          `<base target="_top"><meta http-equiv="refresh" content="0;url=${outside.url}/frame">`,
        ),
      },
      'restricted',
    );
    const tab = await scene.visit(`/${hostile}/`);
    expect(tab.url()).toBe(`${scene.gateway.url}/${hostile}/`);
    expect(await outside.reachedSoFar(scene.context)).toEqual([]);
  },
);

/** The documents of all frames of a page. */
function framedContents(tab: Page): Promise<string[]> {
  return Promise.all(
    tab
      .frames()
      .slice(1)
      .map((frame) => frame.content()),
  );
}

/** Expects a text in no frame of a page. */
async function expectNowhere(tab: Page, text: string): Promise<void> {
  for (const content of await framedContents(tab)) expect(content).not.toContain(text);
}

attack(
  'Files of other addresses',
  'A page without trust shows pictures and styles of an address that is not its own',
  'It loads only files below its own address.',
  async () => {
    const scene = await scenes('worker');
    const third = await scene.publish({ 'p.svg': picture, 's.css': 'body { color: red }' }, 'restricted');
    const hostile = await scene.publish(
      {
        'index.html': page(
          `<link rel="stylesheet" href="/${third}/s.css"><img src="/${third}/p.svg"><img src="p.svg"><img src="/icon.svg">`,
        ),
        'p.svg': picture,
      },
      'restricted',
    );
    const look = async () => {
      const tab = await scene.visit(`/${hostile}/`);
      return tab.evaluate(() => [
        getComputedStyle(document.body).color,
        ...Array.from(document.images, ({ naturalWidth }) => naturalWidth > 0),
      ]);
    };
    expect(await look()).toEqual(['rgb(0, 0, 0)', false, true, false]);
    await scene.decide(hostile, 'trusted');
    expect(await look()).toEqual(['rgb(255, 0, 0)', true, true, true]);
  },
);
