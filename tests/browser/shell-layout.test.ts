import { languages } from '../../src/languages.ts';
import { expect, openWithoutScripts, test } from '../support/chromium.ts';
import { overflow } from '../support/layout.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';

const widths = [390, 768, 1280];
const long =
  'A title of a site that is longer than any line of the shell, and_has_a_word_that_no_line_can_break_anywhere';

for (const language of languages) {
  // German has the longer words.
  test(`no screen is wider than its window (language: ${language})`, { tag: '@full' }, async ({
    startPeer,
    openGateway,
  }) => {
    const peer = await startPeer();
    const page = `<!doctype html><title>${long}</title><h1>Long</h1>`;
    const files = { 'index.html': page, [`${'long-name-'.repeat(20)}.txt`]: 'text' };
    const site = await publish(await makeTarchive(files), peer);
    const folder = await publish(await makeTarchive({ [`${'long-name-'.repeat(20)}.txt`]: 'text' }), peer);
    const letter = await publish(Buffer.from('Dear reader'), peer);
    const { shell, url } = await openGateway({
      peers: [peer.url, `https://${'peer-with-a-long-name.'.repeat(5)}example`],
      names: { [`${'long-name-'.repeat(9)}`]: letter },
      catalogue: [{ title: long.slice(0, 100), address: letter }],
      denied: ['cd'.repeat(32)],
    });
    await shell.evaluate((language) => localStorage.setItem('antway.language', language), language);
    await shell.goto(`${url}/${site}/`);
    await openWithoutScripts(shell);
    for (const path of [
      '',
      '#library',
      '#live',
      '#publish',
      '#settings',
      `#view=${site}/`,
      `#read=${folder}/`,
      'ab'.repeat(32),
      'cd'.repeat(32),
      `${folder}/`,
      `${folder}/${'missing-'.repeat(20)}`,
    ]) {
      await shell.goto('about:blank');
      await shell.goto(`${url}/${path}`);
      await expect(shell.getByRole('heading').first()).toBeVisible();
      await shell.waitForLoadState('networkidle');
      await shell.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      for (const width of widths) {
        await shell.setViewportSize({ width, height: 800 });
        expect(await overflow(shell), `${path || 'start page'}, ${width} px`).toEqual([]);
      }
    }
  });
}
