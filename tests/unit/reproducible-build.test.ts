import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { filesOf } from '../../build/files-of.ts';
import { buildShell, built, root, run } from '../../src/cli/setup.mjs';

beforeAll(buildShell, 300_000);

it('a build in another folder has the same bytes', { tags: 'full', timeout: 300_000 }, async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'antway-reproducible-'));
  try {
    const project = join(elsewhere, 'another', 'place');
    const sources = ['src', 'sw', 'build', 'public', 'vite.config.ts', 'package.json', 'pnpm-lock.yaml'];
    for (const name of [...sources, 'tsconfig.base.json', 'tsconfig.json']) {
      cpSync(join(root, name), join(project, name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'), 'dir');
    const output = join(project, 'dist');
    const vite = join(project, 'node_modules/vite/bin/vite.js');
    const args = ['build', '--config', join(project, 'vite.config.ts'), '--outDir', output];
    const env = { ...process.env, NODE_ENV: 'production' };
    await run(process.execPath, [vite, ...args, '--logLevel', 'warn'], { env });
    expect(filesOf(output)).toEqual(filesOf(built.shell));
    const different = filesOf(output).filter(
      (path) => !readFileSync(join(output, path)).equals(readFileSync(join(built.shell, path))),
    );
    expect(different).toEqual([]);
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
});
