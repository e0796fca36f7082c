import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import type { ListedSite } from '../../../src/shell/gateway-api.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { expect, fetchIn, type Gateway, sceneOfFile, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { fromRoot } from '../../support/paths.ts';
import { publish } from '../../support/publish.ts';
import type { Files } from '../../support/tar.ts';
import { makeTarchive } from '../../support/tarchive.ts';

const svg = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 60" width="800" height="600"><rect width="80" height="60" fill="${colour}"/><circle cx="40" cy="30" r="18" fill="#f5efe3"/></svg>`;

/** A second of silence: 8,000 samples of 8 bits. */
function silence(): Buffer {
  const samples = 8_000;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, 128)]);
}

const markdown = `# Tide notes

A *short* log with a [table of tides](data/tides.csv), a [page](page.html), a [foreign link](https://example.com/a),
and a [jump](#the-crab).

![A crab](pictures/b%20crab.svg) ![Tracker](https://example.com/t.png)

| day | high |
| --- | ---: |
| Monday | 3.1 |

- [x] look
- [ ] write

\`\`\`js
const longLine = 'a line of code that is longer than a phone is wide, so that it has to scroll by itself';
\`\`\`

${'A paragraph about the sea and the crabs that live in it.\n\n'.repeat(30)}

## The crab

It went sideways.
`;

/** Paths, and what shows that the reader is complete. */
const audited: readonly [string, string][] = [
  ['', '.reader-files'],
  ['README.md', '.reader-document iframe'],
  ['small/tides.csv', 'table'],
  ['data/tree.json', '[role=tree]'],
  ['small/main.rs', '.hljs-keyword'],
  ['pictures/', '.gallery'],
  ['pictures/a.svg', '.reader-picture img'],
  ['sounds/', 'audio'],
  ['film.webm', 'video'],
  ['nothing.md', '[role=alert]'],
];

const schemes = ['light', 'dark'] as const;

async function audit(page: Page, what: string): Promise<void> {
  // Scripts do not run in the document's frame, so axe cannot either: see `auditDocument`.
  await expectAccessible(page, { what, exclude: '.document-frame', schemes });
}

/** Audits a copy of the document in a page where scripts run, with the same styles. */
async function auditDocument(page: Page): Promise<void> {
  const html = await page.locator('.document-frame').evaluate((frame: HTMLIFrameElement) => {
    const { documentElement, adoptedStyleSheets } = frame.contentDocument!;
    const rules = adoptedStyleSheets.flatMap(({ cssRules }) =>
      Array.from(cssRules, ({ cssText }) => cssText),
    );
    return `<!doctype html><html lang="${documentElement.lang}"><title>Copy</title><style>${rules.join('')} html { background: var(--surface) }</style>${frame.contentDocument!.body.innerHTML}`;
  });
  const copy = await page.context().newPage();
  await copy.setContent(html);
  await audit(copy, 'the document');
  await copy.close();
}

const csv = `day,high,note\n${Array.from({ length: 450 }, (_, i) => `2026-01-${i},${(i * 7) % 100},"row, ${i}"`).join('\n')}\n,,last\n`;

const files: Files = {
  'README.md': markdown,
  'page.html': '<!doctype html><title>Page</title><h1>A page</h1>',
  'data/tides.csv': csv,
  'data/tree.json': JSON.stringify({
    title: 'Tides',
    list: Array.from({ length: 250 }, (_, i) => i),
    deep: { a: { b: ['<b>x</b>', null, true] } },
    big: 0,
  }).replace('"big":0', '"big":12345678901234567890'),
  'many-lines.txt': 'A sea sea\n'.repeat(250_000),
  'src/main.rs': `// A comment\nfn main() {\n    println!("sea");\n}\n${'let x = 1;\n'.repeat(3_000)}`,
  'src/plain.txt': 'just text\n',
  'small/tides.csv': 'day,high\nMonday,3.1\nTuesday,2.9\n',
  'small/main.rs':
    '// A comment\nfn main() -> u8 {\n    let name = "sea";\n    #[allow(unused)]\n    println!("{name}");\n    7\n}\n',
  'empty.txt': '',
  'film.webm': readFileSync(fromRoot('tests/sites/sample/media/waves.webm')),
  'pictures/a.svg': svg('#3e6a9e'),
  'pictures/b crab.svg': svg('#c47d13'),
  'pictures/c.svg': svg('#4d8a63'),
  'sounds/01 first.wav': silence(),
  'sounds/02 second.wav': silence(),
};

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const site = await publish(await makeTarchive(files), peer);
  return { site, gateway: await openWorker({ peers: [peer.url], names: { log: site } }) };
});

test.describe('readers', () => {
  let gateway: Gateway;
  let page: Page;
  let site: string;

  test.beforeEach(async () => {
    site = scene().site;
    gateway = await openFreshShell(scene().gateway);
    page = gateway.shell;
  });

  const open = (path: string) => page.goto(`${gateway.url}/#read=${path}`);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const frame = () => page.frameLocator('.document-frame');

  test('the address box, a listing and the library lead to the files of a site', {
    tag: '@full',
  }, async () => {
    await page.getByRole('combobox').fill(`${site}/README.md`);
    await expect(page.getByRole('listbox')).toBeVisible();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Open in a reader' }).click();
    await expect(frame().getByRole('heading', { name: 'Tide notes' })).toBeVisible();
    await expect(heading('README.md')).toBeFocused();
    await expect(page).toHaveTitle('README.md · Antway');

    await page.goto(`${gateway.url}/${site}/src/`);
    await expect(page.getByRole('heading', { name: 'Contents of src/' })).toBeVisible();
    await page.getByRole('link', { name: 'in the app' }).click();
    await expect(heading('src')).toBeVisible();
    await page.getByRole('link', { name: 'Files' }).first().click();
    await page.getByRole('link', { name: 'README.md' }).click();
    await expect(frame().getByRole('heading', { name: 'Tide notes' })).toBeVisible();

    await page.goto(`${gateway.url}/#library`);
    await page.getByRole('button', { name: /^More for/ }).click();
    await page.getByRole('link', { name: /^Files: / }).click();
    await expect(page.getByRole('list', { name: /^Files in/ }).getByRole('link')).toHaveCount(10);
    await page.getByRole('main').getByRole('link', { name: 'Library' }).click();
    await expect(heading('Library')).toBeVisible();
  });

  test('content that was read is on the shelf and in the library, and opens again in its reader', {
    tag: '@full',
  }, async () => {
    await open(`${site}/data/tides.csv`);
    await expect(page.getByText('451 rows')).toBeVisible();
    const read = async () =>
      JSON.parse((await gateway.fetch('/-/sites')).text).sites.map(({ address, reader }: ListedSite) => [
        address,
        reader,
      ]);
    await expect.poll(read).toEqual([[site, 'data/tides.csv']]);
    await page.goto(`${gateway.url}/`);
    await page.getByRole('region', { name: 'Last opened' }).getByRole('link', { name: 'tides.csv' }).click();
    await expect(heading('tides.csv')).toBeVisible();
    await expect(page.getByText('451 rows')).toBeVisible();

    await open(`${site}/pictures/`);
    await expect(page.locator('.gallery')).toBeVisible();
    await expect.poll(read).toEqual([[site, 'pictures/']]);
    await page.goto(`${gateway.url}/#library`);
    await page.locator('.site-title').click();
    await expect(heading('pictures')).toBeVisible();

    // A missing file is no visit.
    await open(`${site}/nothing.md`);
    await expect(page.getByRole('alert')).toContainText('NOT_FOUND');
    expect(await read()).toEqual([[site, 'pictures/']]);

    // As a page, the site opens as a page again.
    await page.goto(`${gateway.url}/${site}/src/`);
    await expect(page.getByRole('heading', { name: 'Contents of src/' })).toBeVisible();
    // Content may not use the endpoint, and the visit counts after a second.
    const shell = await page.context().newPage();
    await shell.goto(`${gateway.url}/`);
    const readers = async () => {
      const { text } = await fetchIn(shell, '/-/sites');
      return JSON.parse(text).sites.map(({ address, reader }: ListedSite) => [address, reader]);
    };
    await expect.poll(readers).toEqual([[site, undefined]]);
    await shell.close();
    await page.goto(`${gateway.url}/`);
  });

  test('Markdown is a document whose pictures come through the gateway and whose links work', async () => {
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('example.com')) foreign.push(request.url());
    });
    await open(`${site}/README.md`);
    const image = frame().getByRole('img', { name: 'A crab' });
    await expect.poll(() => image.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(800);
    await expect(frame().getByRole('link', { name: 'Tracker – picture on example.com' })).toHaveAttribute(
      'href',
      'https://example.com/t.png',
    );
    expect(foreign).toEqual([]);
    // The document is as high as its content, so only the page itself scrolls.
    const inner = await frame()
      .locator('main')
      .evaluate((main) => main.getBoundingClientRect().height);
    expect((await page.locator('.document-frame').boundingBox())!.height).toBeGreaterThanOrEqual(inner);
    await frame().getByRole('link', { name: 'jump' }).click();
    await expect(frame().getByRole('heading', { name: 'The crab' })).toBeInViewport();
    expect(page.url()).toBe(`${gateway.url}/#read=${site}/README.md`);
    await expect(frame().getByText('☑ look')).toBeVisible();
    await frame().getByRole('link', { name: 'table of tides' }).click();
    await expect(heading('tides.csv')).toBeVisible();
    await page.goBack();
    await frame().getByRole('link', { name: 'page', exact: true }).click();
    await page.waitForURL((url) => url.pathname.endsWith('/page.html') || url.pathname === '/-/trust');
  });

  test('CSV is a table that sorts by its columns and shows more rows on request', {
    tag: '@full',
  }, async () => {
    await open(`log/data/tides.csv`);
    const rows = page.getByRole('row');
    await expect(rows).toHaveCount(201);
    await expect(page.getByText('451 rows')).toBeVisible();
    await page.getByRole('button', { name: /^Show more/ }).click();
    await expect(rows).toHaveCount(401);
    const high = page.getByRole('columnheader', { name: 'high' });
    await high.getByRole('button').click();
    await expect(high).toHaveAttribute('aria-sort', 'ascending');
    await expect(rows.nth(1)).toContainText('row, 0');
    await high.getByRole('button').click();
    await expect(high).toHaveAttribute('aria-sort', 'descending');
    await expect(rows.nth(1).getByRole('cell').nth(1)).toHaveText('99');
    await page.getByLabel('Show as').selectOption('Text');
    await expect(page.getByText('452 lines')).toBeVisible();
    await page.reload();
    await expect(page.getByText('452 lines')).toBeVisible();
  });

  test('JSON is a tree for the keyboard, with all digits of large numbers', { tag: '@full' }, async () => {
    await open(`${site}/data/tree.json`);
    const items = page.getByRole('treeitem');
    await expect(items).toHaveCount(5);
    await expect(page.getByText('12345678901234567890')).toBeVisible();
    await items.first().focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await expect(items).toHaveCount(106);
    await page.getByRole('treeitem', { name: 'Show 150 more' }).click();
    await expect(items).toHaveCount(206);
    await items.nth(2).focus();
    await page.keyboard.press('ArrowLeft');
    await expect(items).toHaveCount(5);
    await page.keyboard.press('End');
    await expect(items.last()).toBeFocused();
    await page.getByRole('button', { name: 'Expand', exact: true }).click();
    await expect(page.getByText('"<b>x</b>"')).toBeVisible();
    await page.getByRole('button', { name: 'Collapse all' }).click();
    await expect(items).toHaveCount(1);
  });

  test('code has colours and line numbers, and shows more lines on request', { tag: '@full' }, async () => {
    await open(`${site}/src/main.rs`);
    await expect(page.locator('.hljs-keyword').first()).toHaveText('fn');
    await expect(page.locator('.code-line')).toHaveCount(2_000);
    await page.getByRole('button', { name: /^Show more/ }).click();
    await expect(page.locator('.code-line')).toHaveCount(3_004);
    await open(`${site}/many-lines.txt`);
    await expect(page.getByText(/^First 200,00\d lines$/)).toBeVisible();
  });

  test('an empty file is shown as empty, and no request for it fails', { tag: '@full' }, async () => {
    const statuses = new Set<number>();
    page.on('response', (response) => {
      if (response.url().includes('empty.txt')) statuses.add(response.status());
    });
    await open(`${site}/empty.txt`);
    await expect(page.getByText('The file is empty.')).toBeVisible();
    expect([...statuses]).toEqual([200]);
  });

  test('pictures are a gallery whose large view has keys, buttons and swipes', { tag: '@full' }, async () => {
    await open(`${site}/pictures/`);
    const thumbnails = page.getByRole('button', { name: /^Show / });
    await expect(thumbnails).toHaveCount(3);
    await thumbnails.first().click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('1 of 3');
    await page.keyboard.press('ArrowRight');
    await expect(dialog.getByRole('img')).toHaveAttribute('alt', 'b crab.svg');
    const { width, height } = page.viewportSize()!;
    await page.mouse.move(width * 0.7, height / 2);
    await page.mouse.down();
    await page.mouse.move(width * 0.3, height / 2);
    await page.mouse.up();
    await expect(dialog).toContainText('3 of 3');
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    await expect(thumbnails.first()).toBeFocused();
    await page.getByRole('button', { name: 'Files', exact: true }).click();
    await page.getByRole('link', { name: 'a.svg' }).click();
    await expect(page.locator('iframe').contentFrame().locator('svg')).toBeVisible();
  });

  test('sounds play one after the other, with a playlist, keys and the system’s controls', {
    tag: '@full',
  }, async () => {
    await open(`${site}/sounds/`);
    const titles = page.getByRole('listitem').getByRole('button');
    await expect(titles).toHaveCount(2);
    await expect(titles.first()).toHaveAttribute('aria-current', 'true');
    await titles.first().click();
    await expect(titles.nth(1)).toHaveAttribute('aria-current', 'true', { timeout: 10_000 });
    expect(await page.evaluate(() => navigator.mediaSession.metadata?.title)).toBe('02 second');
    await page.keyboard.press('p');
    await expect(titles.first()).toHaveAttribute('aria-current', 'true');
    await open(`${site}/film.webm`);
    await expect
      .poll(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.readyState))
      .toBeGreaterThan(0);
  });

  test('a missing file, an unknown name and a malformed link are explained', { tag: '@full' }, async () => {
    await open(`${site}/nothing.md`);
    await expect(page.getByRole('alert')).toContainText('NOT_FOUND');
    await open('unknown-name/a.md');
    await expect(page.getByRole('alert')).toContainText('unknown-name');
    await open(`${site}/..%2f..%2fx`);
    await expect(page.getByRole('alert')).toContainText('BAD_ADDRESS');
  });

  for (const [width, height] of [
    [390, 844],
    [1280, 860],
  ] as const) {
    test(`axe finds no violation in any reader, light or dark, ${width} pixels wide`, {
      tag: '@full',
    }, async () => {
      await page.setViewportSize({ width, height });
      for (const [path, selector] of audited) {
        await open(`${site}/${path}`);
        await page.locator(selector).first().waitFor();
        await audit(page, path);
        if (path === 'README.md') await auditDocument(page);
      }
      await open(`${site}/pictures/`);
      await page
        .getByRole('button', { name: /^Show / })
        .first()
        .click();
      await audit(page, 'large view');
    });
  }
});
