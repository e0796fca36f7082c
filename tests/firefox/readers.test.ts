import { expect } from 'vitest';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { test } from './harness.ts';

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"><rect width="80" height="60"/></svg>';
const files = {
  'a.md': `# Notes\n\n<script>document.title = 'RAN'</script><img src="x" onerror="top.document.title = 'RAN'">\n\n![Tide](p.svg)\n\n[Table](b.csv)\n\n${'A paragraph.\n\n'.repeat(60)}`,
  'b.csv': 'day,high\nMonday,3.1\nTuesday,2.9\n',
  'c.json': '{"a": {"b": 12345678901234567890}}',
  'd.js': 'const a = 1;\n',
  'p.svg': picture,
};

test('the readers show documents with pictures, tables, trees and code, and a document runs no script', {
  tags: 'full',
}, async ({ startPeer, openGateway }) => {
  const peer = await startPeer();
  const site = await publish(await makeTarchive(files), peer);
  const { shell } = await openGateway(peer);
  await shell.bringToFront();
  const show = (path: string) =>
    shell.evaluate((hash) => {
      location.hash = hash;
    }, `read=${site}/${path}`);
  const documentState = () =>
    shell.evaluate(() => {
      const frame = document.querySelector<HTMLIFrameElement>('.document-frame');
      const inside = frame?.contentDocument;
      const main = inside?.querySelector('main');
      const image = inside?.querySelector<HTMLImageElement>('img[alt="Tide"]');
      return {
        heading: inside?.querySelector('h1')?.textContent,
        width: image?.naturalWidth,
        link: inside?.querySelector('a')?.getAttribute('href'),
        isWhole: Boolean(main && frame!.clientHeight >= main.getBoundingClientRect().height - 1),
        isStyled: main && inside!.defaultView!.getComputedStyle(main).maxWidth,
        title: document.title,
      };
    });
  await show('a.md');
  await expect.poll(documentState, { timeout: 20_000 }).toEqual({
    heading: 'Notes',
    width: 80,
    link: expect.stringContaining(`/#read=${site}/b.csv`),
    isWhole: true,
    isStyled: '704px',
    title: 'a.md · Antway',
  });

  // Even without the sanitiser, nothing runs in the frame.
  await shell.evaluate(() => {
    const inside = document.querySelector<HTMLIFrameElement>('.document-frame')!.contentDocument!;
    const place = inside.createElement('div');
    inside.body.append(place);
    place.innerHTML = `<img src="x" onerror="top.document.title = 'RAN'"><svg onload="top.document.title = 'RAN'"></svg><iframe srcdoc="<script>top.document.title = 'RAN'</script>"></iframe>`;
    const script = inside.createElement('script');
    script.textContent = "top.document.title = 'RAN'";
    inside.body.append(script);
  });
  await new Promise((done) => setTimeout(done, 1_000));
  expect((await documentState()).title).toBe('a.md · Antway');

  const textOf = (selector: string) =>
    shell.evaluate((selector) => document.querySelector(selector)?.textContent, selector);
  await show('b.csv');
  await expect.poll(() => textOf('td'), { timeout: 20_000 }).toBe('Monday');
  await show('c.json');
  await expect.poll(() => textOf('[role=treeitem]'), { timeout: 20_000 }).toContain('1 key');
  await show('d.js');
  await expect.poll(() => textOf('.hljs-keyword'), { timeout: 20_000 }).toBe('const');
});
