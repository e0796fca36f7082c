import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };
import { moduleFile, type PackageDefinition } from './packages.ts';
import { noticesFile } from './third-party-notices.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const licences = ['LICENSE-APACHE', 'LICENSE-MIT'];

/** Fails for a folder that the build has left incomplete. */
const prepack = `node --input-type=module -e "${[
  "import { accessSync, readFileSync } from 'node:fs'",
  "const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))",
  'for (const target of Object.values(exports)) for (const path of [target.types, target.default]) path && accessSync(path)',
].join('; ')}"`;

/**
 * Writes everything but the code into the folder of a package: types, metadata, licences and README. The package has no
 * dependencies: they are bundled.
 * @param types the folder with the declarations of all sources.
 * @throws Error for a module without declarations, or with declarations that need a package which is not a peer dependency.
 */
export function writePackageFolder(definition: PackageDefinition, folder: string, types: string): void {
  const { name, description, keywords, modules, readme, peerDependencies = {} } = definition;
  const { version, license, engines } = packageJson;
  const ownVersion = process.env.ANTWAY_VERSION ?? version;
  const declarationOf = (source: string) => source.replace(/\.ts$/, '.d.ts');
  const declarations = Object.values(modules).map(declarationOf);
  copyDeclarations(declarations, types, join(folder, 'types'), new Set(Object.keys(peerDependencies)));
  for (const licence of licences) copyFileSync(fromRoot(licence), join(folder, licence));
  copyFileSync(fromRoot(readme), join(folder, 'README.md'));
  const targets = Object.entries(modules).map(([path, source]) => [
    path,
    { types: `./types/${declarationOf(source)}`, default: `./${moduleFile(path)}` },
  ]);
  const metadata = {
    name: `@antway/${name}`,
    version: ownVersion,
    description,
    keywords: ['autonomi', 'ant', 'content-addressed', 'decentralized', ...keywords],
    license,
    type: 'module',
    sideEffects: false,
    engines,
    ...(definition.peerDependencies && {
      peerDependencies: Object.fromEntries(
        Object.entries(peerDependencies).map(([peer, range]) => [peer, range === '*' ? ownVersion : range]),
      ),
    }),
    exports: { ...Object.fromEntries(targets), './package.json': './package.json' },
    types: `./types/${declarations[0]}`,
    scripts: { prepack },
    // The names of the code are in the folder: it has nothing else.
    files: [
      ...readdirSync(folder)
        .filter((file) => /\.(js|map|wasm)$/.test(file))
        .sort(),
      'types',
      ...licences,
      noticesFile,
    ],
    publishConfig: { access: 'public' },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(metadata, undefined, 2)}\n`);
}

/** Copies declarations, and those that they import, to the same paths in another folder. */
function copyDeclarations(
  files: readonly string[],
  from: string,
  to: string,
  peers: ReadonlySet<string>,
): void {
  const found = new Set(files);
  for (const file of found) {
    const text = readFileSync(join(from, file), 'utf8');
    for (const [, specifier = ''] of text.matchAll(/(?:from |import\(|import )['"]([^'"]+)['"]/g)) {
      if (peers.has(specifier)) continue;
      if (!specifier.startsWith('.')) throw new Error(`The types of ${file} need the package ${specifier}.`);
      const target = join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts'));
      found.add(relative('.', target).replaceAll('\\', '/'));
    }
    mkdirSync(dirname(join(to, file)), { recursive: true });
    writeFileSync(join(to, file), text);
  }
}
