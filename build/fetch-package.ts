import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Writes everything but the code into the folder of the package `@antway/fetch`. It has no dependencies: they are bundled. */
export function writeFetchPackage(folder: string): void {
  const { version, license, engines } = packageJson;
  const metadata = {
    name: '@antway/fetch',
    version: process.env.ANTWAY_VERSION ?? version,
    description: 'fetch for content of the Autonomi network: verified and decrypted in your page or program.',
    keywords: ['autonomi', 'ant', 'fetch', 'content-addressed', 'decentralized'],
    license,
    type: 'module',
    sideEffects: false,
    engines,
    exports: {
      '.': { types: './types/fetch/index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
    types: './types/fetch/index.d.ts',
    // Fails for a folder that the build has left incomplete.
    scripts: {
      prepack:
        "node --check index.js && node --input-type=module -e \"await (await import('node:fs/promises')).access('types/fetch/index.d.ts')\"",
    },
    files: [
      '*.js',
      '*.js.map',
      'types/errors.d.ts',
      'types/fetch/{index,types,ant-error,create-ant-fetch}.d.ts',
      'LICENSE-*',
      'THIRD-PARTY-NOTICES.txt',
    ],
    publishConfig: { access: 'public' },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(metadata, undefined, 2)}\n`);
  for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) copyFileSync(fromRoot(name), join(folder, name));
  copyFileSync(fromRoot('src/fetch/README.md'), join(folder, 'README.md'));
}
