import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { type Build, filesList } from '../src/build.ts';
import { limits } from '../src/limits.ts';
import { compressFiles } from './compress.ts';
import { filesOf } from './files-of.ts';

/** Holds the hashes of the first files, and so of the list with the hashes of the others. */
export const workerScript = 'sw.js';

/** Imports `workerScript`. A browser must see that it changed, or it keeps the policy of the old one. */
const siteWorkerScript = '-/site-worker.js';

const shellDocument = 'index.html';

const listPath = filesList.slice(1);

/** Matches the expression in `src/build.ts`, and the build object that replaces the expression. */
const slot =
  /globalThis\.__ANTWAY_BUILD__|\{"hash":"[0-9a-f]{64}","first":\{[^{}]*\},"installed":\[[^[\]]*\],"optional":\[[^[\]]*\]\}/g;
const emptySlot = 'globalThis.__ANTWAY_BUILD__';

/** The build's probe file. `WildcardHosts` uses it to check that a host serves this build. */
const isProbe = (path: string) => /^-\/probe-[0-9a-f]{64}\.json$/.test(path);

/**
 * Files that the shell does not need to start: libsodium, which only browsers without the cipher need; the compressor,
 * which publishing needs; the page that tests a browser; the licences of packages.
 */
const isOptional = (path: string) =>
  /(^|\/)(libsodium|brotli_wasm_bg)-[^/]*\.wasm$/.test(path) ||
  /^(-|assets)\/self-test[.-]/.test(path) ||
  path === 'THIRD-PARTY-NOTICES.txt';

/** Files that the worker never reads: scripts of workers, and files for crawlers and for the dialog that installs the app. */
const isUnlisted = (path: string) =>
  path === workerScript || path === siteWorkerScript || /^(screenshot-.*\.png|robots\.txt)$/.test(path);

/** Matches the last line of `siteWorkerScript`, after this build step. */
const buildLine = /^\/\/ Build [0-9a-f]{64}\n$/m;

/** The shell's document with its scripts and styles, and the pages of a site's origin. All others are loaded later. */
function firstFiles(folder: string): (path: string) => boolean {
  const document = readFileSync(join(folder, shellDocument), 'utf8');
  const named = new Set(Array.from(document.matchAll(/\s(?:href|src)="\/([^"]+)"/g), ([, path]) => path));
  const isNamed = (path: string) => named.has(path) && /\.(js|css)$/.test(path);
  return (path) => path === shellDocument || isNamed(path) || /^-\/((bridge|site)\.|page\.css$)/.test(path);
}

/**
 * The last step of a build, which can be repeated. Writes the hashes of the first files into the worker's script, and
 * those of the others into the file that `filesList` names. Also writes the file `-/probe-<hash>.json`. The hash of the
 * build is the SHA-256 of the output of `sha256sum` for all files except the probe file: one line `<hex>  <path>` for
 * each, sorted by path. The two scripts of workers are hashed before this step changes them.
 * @returns the hash of the build.
 */
export function embedBuild(folder: string): string {
  const script = join(folder, workerScript);
  const text = readFileSync(script, 'utf8');
  if (text.match(slot)?.length !== 1)
    throw new Error(`${script} has no place for the build’s hashes, or several.`);
  const worker = text.replace(slot, emptySlot);
  const siteScript = join(folder, siteWorkerScript);
  const siteWorker = readFileSync(siteScript, 'utf8').replace(buildLine, '');
  const unchanged = new Map([
    [workerScript, worker],
    [siteWorkerScript, siteWorker],
  ]);

  const build: Build = { hash: '', first: {}, installed: [], optional: [] };
  const listed: Record<string, string> = {};
  const digests = new Map<string, Buffer>();
  const digestOf = (path: string, bytes: Uint8Array) => {
    const digest = createHash('sha256').update(bytes).digest();
    digests.set(path, digest);
    return digest.toString('base64');
  };
  const isFirst = firstFiles(folder);
  for (const path of filesOf(folder)) {
    if (isProbe(path)) rmSync(join(folder, path));
    if (isProbe(path) || path === listPath) continue;
    const before = unchanged.get(path);
    const bytes = before === undefined ? readFileSync(join(folder, path)) : Buffer.from(before);
    const hash = digestOf(path, bytes);
    if (isUnlisted(path)) continue;
    if (bytes.length > limits.shellFileBytes)
      throw new Error(`${path} is larger than ${limits.shellFileBytes} bytes.`);
    if (isFirst(path)) build.first[`/${path}`] = hash;
    else {
      (isOptional(path) ? build.optional : build.installed).push(`/${path}`);
      listed[`/${path}`] = hash;
    }
  }
  const list = Buffer.from(`${JSON.stringify(listed)}\n`);
  mkdirSync(join(folder, '-'), { recursive: true });
  writeFileSync(join(folder, listPath), list);
  build.first[filesList] = digestOf(listPath, list);

  const lines = filesOf(folder).map((path) => `${digests.get(path)!.toString('hex')}  ${path}\n`);
  build.hash = createHash('sha256').update(lines.join('')).digest('hex');
  writeFileSync(
    script,
    worker.replace(slot, () => JSON.stringify(build)),
  );
  writeFileSync(siteScript, `${siteWorker}// Build ${build.hash}\n`);
  writeFileSync(join(folder, `-/probe-${build.hash}.json`), `${JSON.stringify({ antway: build.hash })}\n`);
  return build.hash;
}

/** @param before called with the folder when all other files are there. */
export function embeddedBuild(before: (folder: string) => void): Plugin {
  let folder = '';
  return {
    name: 'antway:embedded-build',
    apply: 'build',
    enforce: 'post',
    configResolved: ({ root, build: { outDir } }) => {
      folder = resolve(root, outDir);
    },
    closeBundle: {
      order: 'post',
      sequential: true,
      handler: () => {
        before(folder);
        embedBuild(folder);
        compressFiles(folder);
      },
    },
  };
}
