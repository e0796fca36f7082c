import { readFileSync } from 'node:fs';
import { expect } from '../support/chromium.ts';
import { fromRoot } from '../support/paths.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { tour, withOwnOrigins } from './tour.ts';

const svg = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 60" width="800" height="600"><rect width="80" height="60" fill="${colour}"/><circle cx="40" cy="30" r="18" fill="#f5efe3"/></svg>`;

const markdown = `# Tide notes

A *short* log with a [table of tides](tides.csv), a [foreign link](https://example.com/a), and a picture.

![A crab](pictures/b%20crab.svg)

| day | high |
| --- | ---: |
| Monday | 3.1 |

- [x] look
- [ ] write

> The sea, once it casts its spell, holds one in its net of wonder forever.

\`\`\`js
const longLine = 'a line of code that is longer than a phone is wide, so that it has to scroll by itself';
\`\`\`
`;

const words = [
  'neap tide',
  'spring tide',
  'a note that is long enough to need more than one line in a column',
];
const csv = `day,place,high,note\n${Array.from({ length: 40 }, (_, i) => `2026-01-${i + 1},Cove ${i % 7},${(i * 7) % 9}.${i % 10},"${words[i % 3]}"`).join('\n')}\n`;
const json = JSON.stringify({
  title: 'Tides',
  heights: Array.from({ length: 12 }, (_, i) => i / 2),
  place: { name: 'Cove', at: { latitude: 50.1, longitude: -5.3 }, isOpen: true, keeper: null },
});
const code = `// What the crab does.\nfn main() -> u8 {\n    let name = "sea";\n    #[allow(unused)]\n    println!("{name}, and a line that is longer than a phone is wide, so that it has to be scrolled or wrapped");\n    7\n}\n`;

/** A second of silence: 8,000 samples of 8 bits. */
function silence(): Buffer {
  const header = Buffer.from(
    '524946466439000057415645666d74201000000001000100401f0000401f00000100080064617461401f0000',
    'hex',
  );
  header.writeUInt32LE(36 + 8_000, 4);
  return Buffer.concat([header, Buffer.alloc(8_000, 128)]);
}

const files = {
  'README.md': markdown,
  'tides.csv': csv,
  'tree.json': json,
  'main.rs': code,
  'film.webm': readFileSync(fromRoot('tests/sites/sample/media/waves.webm')),
  'pictures/a.svg': svg('#3e6a9e'),
  'pictures/b crab.svg': svg('#c47d13'),
  'pictures/c.svg': svg('#4d8a63'),
  'pictures/d.svg': svg('#8a4d6b'),
  'sounds/01 first.wav': silence(),
  'sounds/02 second.wav': silence(),
  'data.bin': Buffer.alloc(300),
};

/** State, path, and what shows that the reader is complete. */
const states = [
  ['files', '', '.reader-files'],
  ['document', 'README.md', '.reader-document iframe'],
  ['table', 'tides.csv', 'table'],
  ['tree', 'tree.json', '[role=tree]'],
  ['code', 'main.rs', '.hljs-keyword'],
  ['gallery', 'pictures/', '.gallery img'],
  ['picture', 'pictures/a.svg', '.reader-picture img'],
  ['playlist', 'sounds/', 'audio'],
  ['film', 'film.webm', 'video'],
  ['file without a reader', 'data.bin', 'main .empty, main .note, main .notice, main .reader-note'],
  ['missing file', 'nothing.md', '[role=alert]'],
] as const;

tour('8 readers', async ({ album, t, startPeer, startHost, openShell }) => {
  const peer = await startPeer();
  const site = await publish(await makeTarchive(files), peer);
  const root = withOwnOrigins(await startHost({ peers: [peer.url], names: { log: site } }));
  const shell = await openShell(root);
  for (const [state, path, selector] of states) {
    const isReady = () => shell.locator(selector).first().waitFor();
    await album.load(shell, state, `${root}/#read=log/${path}`, isReady);
  }
  await shell.goto(`${root}/#read=log/pictures/`);
  await shell.getByRole('button', { name: t.readers.gallery.open('a.svg') }).click();
  await expect(shell.getByRole('dialog')).toBeVisible();
  await album.shoot(shell, 'large picture', { isWhole: false });
});
