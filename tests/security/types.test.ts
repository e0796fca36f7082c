import type { ConsoleMessage } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, fetchIn, sceneOfFile } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';
import { hadItsTurn } from './hostile-site.ts';

const group = 'Types of files';
const ran = `console.log('RAN')`;
const htmlUpload = `<!doctype html><title>Upload</title><script>${ran}</script>`;
const svgUpload = `<svg xmlns="http://www.w3.org/2000/svg"><script>${ran}</script></svg>`;
const xmlUpload = `<?xml version="1.0"?><a><script xmlns="http://www.w3.org/1999/xhtml">${ran}</script></a>`;
/** A picture for every viewer, and a page for a browser that is told so. */
const polyglot = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  Buffer.from(`<!doctype html><script>${ran}</script>`),
]);

/** A site that its visitors trust, with files that other people uploaded. */
const forum: Files = {
  'index.html': '<!doctype html><title>Forum</title>',
  'comment.txt': htmlUpload,
  'script.txt': ran,
  'avatar.png': polyglot,
  'uploads/html': htmlUpload,
  'uploads/svg': svgUpload,
  'uploads/xml': xmlUpload,
};

const scene = sceneOfFile(async ({ startPeer, openWorker, context }) => {
  const peer = await startPeer();
  const site = await publish(await makeTarchive(forum), peer);
  const gateway = await openWorker({ peers: [peer.url], trusted: [site] });
  return { peer, site, gateway, context, root: `${gateway.url}/${site}` };
});

/** Opens each URL in a tab. @returns the types that came, and what ran. */
async function visitAll(
  urls: readonly string[],
): Promise<{ types: (string | undefined)[]; messages: string[] }> {
  const { context } = scene();
  const messages: string[] = [];
  const note = (message: ConsoleMessage) => messages.push(message.text());
  context.on('console', note);
  const types = [];
  for (const url of urls) {
    const page = await context.newPage();
    const response = await page.goto(url);
    types.push(response!.headers()['content-type']);
    await hadItsTurn(page);
    await page.close();
  }
  context.off('console', note);
  return { types, messages: messages.filter((text) => text === 'RAN') };
}

const text = 'text/plain; charset=utf-8';

attack(
  group,
  'a link names an uploaded text of a trusted site `?filename=x.html`, `.xhtml`, `.svg` or `.xml`',
  'the text stays a text; the name is only for saving it',
  async () => {
    const { root } = scene();
    const urls = ['html', 'xhtml', 'svg', 'xml', 'mhtml', 'shtml'].map(
      (extension) => `${root}/comment.txt?filename=x.${extension}`,
    );
    expect(await visitAll(urls)).toEqual({ types: urls.map(() => text), messages: [] });
  },
);

attack(group, 'a link names a PNG that is also HTML `?filename=x.html`', 'it stays a picture', async () => {
  const { root } = scene();
  const visited = await visitAll([`${root}/avatar.png?filename=x.html`]);
  expect(visited).toEqual({ types: ['image/png'], messages: [] });
});

attack(
  group,
  'uploads without an extension contain HTML, SVG or XML',
  'inside an archive, bytes never make a document',
  async () => {
    const { root } = scene();
    const paths = ['html', 'svg', 'xml', 'html?filename=x.html', 'svg?filename=x.svg'];
    const visited = await visitAll(paths.map((path) => `${root}/uploads/${path}`));
    expect(visited).toEqual({ types: paths.map(() => text), messages: [] });
  },
);

attack(
  group,
  'injected HTML loads an uploaded text as a script or style by `?filename=x.js`',
  'its type stays text, which the browser refuses for a script',
  async () => {
    const { context, root } = scene();
    const messages: string[] = [];
    context.on('console', (message) => messages.push(message.text()));
    const page = await context.newPage();
    await page.goto(`${root}/`);
    const outcomes = await page.evaluate(() =>
      Promise.all(
        ['script.txt?filename=x.js', 'script.txt?filename=x.mjs'].map(
          (src) =>
            new Promise((resolve) => {
              const script = Object.assign(document.createElement('script'), { src });
              script.onload = () => resolve('loaded');
              script.onerror = () => resolve('refused');
              document.head.append(script);
            }),
        ),
      ),
    );
    expect(outcomes).toEqual(['refused', 'refused']);
    expect(messages).not.toContain('RAN');
  },
);

attack(
  group,
  'the same uploads on a site’s own origin',
  'they stay texts and pictures there, too',
  async () => {
    const { site, gateway, context } = scene();
    const { port } = new URL(gateway.url);
    const root = `http://${Address.fromHex(site).base32}.antway.localhost:${port}`;
    const page = await context.newPage();
    await page.goto(`${root}/`);
    await expect(page).toHaveTitle('Forum');
    const paths = [
      'comment.txt?filename=x.html',
      'avatar.png?filename=x.html',
      'uploads/html',
      'uploads/svg',
    ];
    const visited = await visitAll(paths.map((path) => `${root}/${path}`));
    expect(visited).toEqual({ types: [text, 'image/png', text, text], messages: [] });
  },
  { tag: '@full' },
);

attack(
  group,
  'a link gives a text at an address of its own an active type by `?filename=`',
  'a query chooses an inactive type only',
  async () => {
    const { peer, gateway } = scene();
    const address = await publish(Buffer.from('plain words'), peer);
    const typeOf = async (filename: string) =>
      (await fetchIn(gateway.shell, `/${address}?filename=${filename}`)).headers['content-type'];
    for (const extension of [
      'html',
      'xhtml',
      'svg',
      'xml',
      'xsl',
      'atom',
      'js',
      'mjs',
      'css',
      'eml',
      'wasm',
    ]) {
      expect(await typeOf(`x.${extension}`), extension).toBe(text);
    }
    expect(await typeOf('x.png')).toBe('image/png');
    expect(await typeOf('x.mp4')).toBe('video/mp4');
    expect(await typeOf('x.pdf')).toBe('application/pdf');
  },
);

attack(
  group,
  'an untrusted site is opened by its feed, MathML or another `+xml` type, or by a saved mail',
  'every XML type and every message can hold scripts, so the gateway asks first',
  async () => {
    const { peer, gateway, context } = scene();
    const extensions = ['atom', 'rss', 'mathml', 'rdf', 'xslt', 'xsd', 'eml'];
    const files = Object.fromEntries(extensions.map((extension) => [`a.${extension}`, xmlUpload]));
    const address = await publish(await makeTarchive(files), peer);
    for (const name of Object.keys(files)) {
      const page = await context.newPage();
      const response = await page.goto(`${gateway.url}/${address}/${name}`).catch(() => null);
      expect(response?.status(), name).toBe(403);
      await expect(page.getByRole('button', { name: 'Open without scripts' })).toBeVisible();
      await page.close();
    }
  },
  { tag: '@full' },
);
