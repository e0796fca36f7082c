import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../src/cli/setup.mjs';

/** The package as `npm install` unpacks it, in a folder that has nothing else. */
describe('the npm package', { timeout: 120_000 }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'antway-package-'));
    const packed = execFileSync(
      'npm',
      ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder],
      {
        cwd: root,
        encoding: 'utf8',
      },
    ).trim();
    const unpacked = join(folder, 'node_modules/antway');
    mkdirSync(unpacked, { recursive: true });
    execFileSync('tar', ['--extract', '--gzip', '--strip-components=1', '-f', join(folder, packed)], {
      cwd: unpacked,
    });
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The compiler's complaints about a site's module, every declaration of the package checked. */
  function complaints(code: string, resolution: string): string {
    writeFileSync(join(folder, 'site.mts'), code);
    const flags = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    try {
      const modules = resolution === 'bundler' ? 'esnext' : 'nodenext';
      const args = ['--module', modules, '--moduleResolution', resolution, 'site.mts'];
      execFileSync(process.execPath, [compiler, ...flags, ...args], { cwd: folder, encoding: 'utf8' });
      return '';
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  }

  /** The declarations in docs/reference/api.md. */
  const documented = readFileSync(join(root, 'docs/reference/api.md'), 'utf8');
  const snippet = (start: string): string => {
    const at = documented.indexOf(`\`\`\`js\n${start}`);
    expect(at).toBeGreaterThan(0);
    return documented.slice(at + 6, documented.indexOf('```', at + 6));
  };

  it.each(['nodenext', 'bundler'])(
    'types the documented calls, resolved as by %s',
    { tags: 'full' },
    (resolution) => {
      const byTag = `declare const Antway: import('antway').Antway;
      declare const address: string, shadowRoot: ShadowRoot;
      ${snippet('await Antway.ready;')}
      export const found: [string, number, number, number] = [url, response.status, requests.total, pins.length];`;
      expect(complaints(byTag, resolution)).toBe('');
      const byModule = `${snippet('import { createAntway, DropInError }')}
      antway.ready.catch((error) => error instanceof DropInError && error.code === 'BAD_CONFIG' && error.key);`;
      expect(complaints(byModule, resolution)).toBe('');
    },
  );

  it('refuses what is none of its calls', { tags: 'full' }, () => {
    const wrong = `import { createAntway } from 'antway'; createAntway({ peer: 'https://peer.example' }).url(5);`;
    const text = complaints(wrong, 'nodenext');
    expect(text).toMatch(/'peer' does not exist in type 'DropInOptions/);
    expect(text).toMatch(/'number' is not assignable to parameter of type 'string'/);
  });
});
