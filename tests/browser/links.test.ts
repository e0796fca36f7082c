import { Address } from '../../src/address.ts';
import { expect, openTitled, sceneOfFile, test } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { startSiteOnOwnOrigin } from '../support/site-on-own-origin.ts';
import { makeTarchive } from '../support/tarchive.ts';

const otherFiles = {
  'index.html':
    '<!doctype html><title>Other, still</title><script>document.title = "Other, running"</script>',
  'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
  'style.css': 'p { color: rgb(1, 2, 3) }',
  'lib.js': 'window.lib = document.currentScript.src',
  'note.txt': 'a note of another address',
};

const pageOf = (other: string) => `<!doctype html><title>Linking</title>
<link rel="stylesheet" href="autonomi://${other}/style.css">
<style>div { background: url(ant://${other}/picture.svg) }</style>
<p>Text</p><div>Box</div>
<img src="autonomi://${other}/picture.svg"><img srcset="https://aut.local/${other}/picture.svg 2x">
<a href="ant://${other}/">other</a>
<script src="ant://${other}/lib.js"></script>
<iframe src="ant://${other}/"></iframe>`;

test.describe('a page on its own origin with content addresses', () => {
  const scene = sceneOfFile(async ({ startPeer, startHost, context }) => {
    const bare = await startPeer();
    const other = await publish(await makeTarchive(otherFiles), bare);
    const site = await startSiteOnOwnOrigin({ startPeer, startHost }, { 'index.html': pageOf(other) });
    await publish(await makeTarchive(otherFiles), site.peer);
    const { root, origin } = site;
    return { root, origin, other, page: await openTitled(context, `${root}/${site.address}/`, 'Linking') };
  });

  test('loads pictures, styles and scripts of another address', async () => {
    const { page, other, origin } = scene();
    await expect(page.locator('p')).toHaveCSS('color', 'rgb(1, 2, 3)');
    const widths = () =>
      page.evaluate(() => Array.from(document.images, ({ naturalWidth }) => naturalWidth > 0));
    await expect.poll(widths).toEqual([true, true]);
    expect(await page.evaluate('window.lib')).toBe(`${origin}/-/content/${other}/lib.js`);
  });

  test('fetches content addresses', async () => {
    const { page, other } = scene();
    const texts = await page.evaluate(async (other) => {
      const requests = [
        `ant://${other}/note.txt`,
        new URL(`autonomi://${other}/note.txt`),
        new Request(`https://aut.local/${other.toUpperCase()}/note.txt`),
      ];
      const answers = await Promise.all(requests.map((request) => fetch(request)));
      return Promise.all(answers.map((answer) => answer.text()));
    }, other);
    expect(texts).toEqual(Array(3).fill(otherFiles['note.txt']));
    expect(await page.evaluate('fetch().catch(({ name }) => name)')).toBe('TypeError');
    expect(await page.evaluate('fetch("/-/content/1234").then(({ status }) => status)')).toBe(404);
  });

  test('frames another address without its scripts', async () => {
    const { page, other, origin } = scene();
    await expect.poll(() => page.frames().length).toBe(2);
    const frame = page.frames()[1]!;
    await expect.poll(() => frame.title()).toBe('Other, still');
    expect(frame.url()).toBe(`${origin}/-/content/${other}/`);
  });

  // The last: the page of the scene goes elsewhere.
  test('leads a link to the other site’s own origin', async () => {
    const { page, other, root } = scene();
    await page.getByRole('link', { name: 'other' }).click();
    await expect(page).toHaveTitle('Other, running');
    expect(page.url()).toBe(`${root.replace('//', `//${Address.fromHex(other).base32}.`)}/`);
  });
});
