// @module-tag slow
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compressFiles } from '../../build/compress.ts';
import { filesOf } from '../../build/files-of.ts';
import { fromRoot } from '../support/paths.ts';

describe('the compressed files of a build', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'antway-compress-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('contain the same bytes, and are no files of the build themselves', () => {
    const text = 'A line of the script.\n'.repeat(1_000);
    writeFileSync(join(folder, 'a.js'), text);
    writeFileSync(join(folder, 'small.js'), 'x');
    writeFileSync(join(folder, 'picture.png'), Buffer.alloc(5_000));
    compressFiles(folder);
    compressFiles(folder);
    expect(brotliDecompressSync(readFileSync(join(folder, 'a.js.br'))).toString()).toBe(text);
    expect(gunzipSync(readFileSync(join(folder, 'a.js.gz'))).toString()).toBe(text);
    expect(filesOf(folder)).toEqual(['a.js', 'picture.png', 'small.js']);
  });

  it.each(['dist', 'dist-drop-in'])('are up to date in %s', (name) => {
    const build = fromRoot(name);
    const compressed = filesOf(build).filter((path) => /\.(js|wasm|css)$/.test(path));
    const worker = compressed.find((path) => /(^|-)sw\.js$/.test(path));
    expect(worker).toBeDefined();
    expect(brotliDecompressSync(readFileSync(join(build, `${worker}.br`)))).toEqual(
      readFileSync(join(build, worker!)),
    );
  });
});
