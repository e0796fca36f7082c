import { crc32, deflateSync } from 'node:zlib';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { type ChunkSink, noise, publish } from '../../tests/support/publish.ts';

/** A site with one page. */
export interface Site {
  /** Hexadecimal address of its archive. */
  address: string;
  /** By path. */
  files: ReadonlyMap<string, Uint8Array>;
}

/** The document, its styles, scripts and pictures. */
export const filesPerPage = 30;
const styles = 4;
const scripts = 3;
const pictures = filesPerPage - 1 - styles - scripts;
const pictureBytes = { least: 20_000, most: 60_000 };
const textBytes = 16_000;

/** Publishes a site whose page needs all of its files. @param seed below 256; the same seed gives the same site. */
export async function publishSite(seed: number, ...sinks: ChunkSink[]): Promise<Site> {
  const files = pageOf(seed);
  const entries = Array.from(files, ([path, bytes]) => ({ path, source: bufferAccess(bytes) }));
  return { address: await publish(createTarchive(entries), ...sinks), files };
}

function pageOf(seed: number): Map<string, Uint8Array> {
  const random = noise(seed, pictures * (pictureBytes.most + 2) + 2 * (styles + scripts) * textBytes);
  let at = 0;
  const take = (length: number) => {
    at += length;
    return random.subarray(at - length, at);
  };
  const files = new Map<string, Uint8Array>();
  for (let i = 0; i < styles; i++) files.set(`css/style-${i}.css`, style(take(textBytes / 16)));
  for (let i = 0; i < scripts; i++) files.set(`js/script-${i}.js`, script(take(textBytes / 8)));
  const { least, most } = pictureBytes;
  for (let i = 0; i < pictures; i++) {
    const size = least + (take(2).readUInt16LE() * (most - least)) / 2 ** 16;
    files.set(`pictures/picture-${i}.png`, picture(take(Math.round(size))));
  }
  files.set('index.html', new TextEncoder().encode(documentOf([...files.keys()])));
  return files;
}

function documentOf(paths: readonly string[]): string {
  const tags = paths.map((path) => {
    if (path.endsWith('.css')) return `<link rel="stylesheet" href="${path}">`;
    return path.endsWith('.js') ? `<script defer src="${path}"></script>` : `<img src="${path}" alt="">`;
  });
  const [head, body] = [
    tags.filter((tag) => !tag.startsWith('<img')),
    tags.filter((tag) => tag.startsWith('<img')),
  ];
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Page</title>${head.join('\n')}<h1>Page</h1>\n${body.join('\n')}`;
}

/** Text that compresses like a real style sheet or script: to about a third. */
function style(random: Buffer): Uint8Array {
  const rules = Array.from(random, (byte, i) => `.c${i} { color: #${hex(byte)}; margin: ${byte}px }\n`);
  return Buffer.from(rules.join(''));
}

function script(random: Buffer): Uint8Array {
  return Buffer.from(Array.from(random, (byte, i) => `var v${i} = ${byte};\n`).join(''));
}

function hex(byte: number): string {
  return (byte * 65_793).toString(16).padStart(6, '0');
}

/** A valid picture of a few pixels, with a private part of incompressible bytes. */
function picture(random: Buffer): Uint8Array {
  const header = Buffer.from([0, 0, 0, 16, 0, 0, 0, 16, 8, 0, 0, 0, 0]);
  const pixels = deflateSync(Buffer.alloc(16 * 17, 128));
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const end = Buffer.alloc(0);
  const parts = [
    ['IHDR', header],
    ['raNd', random],
    ['IDAT', pixels],
    ['IEND', end],
  ] as const;
  return Buffer.concat([signature, ...parts.map(([name, bytes]) => pngPart(name, bytes))]);
}

function pngPart(name: string, bytes: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), bytes]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(bytes.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
