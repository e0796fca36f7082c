import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { describe, expect, it } from 'vitest';
import { fromRoot } from '../support/paths.ts';

const budget = 60_000;

describe('the client of the nodes', () => {
  it(`has at most ${budget.toLocaleString('en')} bytes compressed`, async () => {
    const outputs = (await build({
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        minify: true,
        target: 'es2022',
        lib: { entry: fromRoot('src/nodes/open-nodes.ts'), formats: ['es'] },
      },
    })) as Rolldown.RolldownOutput[];
    const codes = outputs.flatMap(({ output }) =>
      output.map((file) => (file.type === 'chunk' ? file.code : '')),
    );
    const bytes = codes.reduce((sum, code) => sum + gzipSync(code, { level: 9 }).length, 0);
    console.log(`the client of the nodes: ${bytes.toLocaleString('en')} bytes, gzip`);
    expect(codes.join('')).toContain('autonomi.web.v5');
    expect(bytes).toBeLessThanOrEqual(budget);
  }, 120_000);
});
