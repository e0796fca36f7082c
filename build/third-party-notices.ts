import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** The file with the licences of all packages in a bundle. */
export const noticesFile = 'THIRD-PARTY-NOTICES.txt';

/** Licences that allow any use of a bundle, also in programs with another licence. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]);

interface BundledPackage {
  name: string;
  version: string;
  /** SPDX expression. */
  license: string;
  /** The folder of the package. */
  folder: string;
}

/** Collects the packages of all builds that fill one folder, and writes their notices. */
export class ThirdPartyNotices {
  readonly #packages = new Map<string, BundledPackage>();

  /** The plug-in for one build. */
  collect(): Plugin {
    return {
      name: 'antway:third-party-notices',
      generateBundle: (_options, bundle) => {
        for (const file of Object.values(bundle)) {
          if (file.type !== 'chunk') continue;
          for (const id of file.moduleIds) {
            const folder = packageFolder(id);
            if (folder) this.add(folder);
          }
        }
      },
    };
  }

  /** Adds a package whose code gets into the bundle by another way than an import. */
  add(folder: string): void {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    this.#packages.set(`${name} ${version}`, { name, version, license, folder });
  }

  /** Writes the file. @throws Error for a package without a permissive licence or without the licence's text. */
  write(folder: string): void {
    const packages = [...this.#packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bundled]) => bundled);
    const notices = packages.map((bundled) => {
      const { name, version, license } = bundled;
      if (!isPermissive(license)) throw new Error(`${name} ${version} has the licence “${license}”.`);
      return `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${licenceText(bundled)}\n`;
    });
    const head = `Antway contains code of these packages, under the licences that follow:\n\n`;
    const list = packages.map(({ name, version, license }) => `  ${name} ${version}, ${license}\n`).join('');
    writeFileSync(join(folder, noticesFile), `${head}${list}\n${notices.join('\n')}`);
  }
}

/** Whether an SPDX expression allows a choice of permissive licences only. */
export function isPermissive(expression: unknown): boolean {
  if (typeof expression !== 'string') return false;
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  const result = anyOf(tokens);
  return result === true && tokens.length === 0;
}

/** Parses alternatives and removes their tokens. Undefined for an invalid expression, as in the other two. */
function anyOf(tokens: string[]): boolean | undefined {
  let result = allOf(tokens);
  while (tokens[0] === 'OR') {
    tokens.shift();
    const next = allOf(tokens);
    result = result === undefined || next === undefined ? undefined : result || next;
  }
  return result;
}

/** `AND` binds more strongly than `OR`. */
function allOf(tokens: string[]): boolean | undefined {
  let result = oneLicence(tokens);
  while (tokens[0] === 'AND') {
    tokens.shift();
    const next = oneLicence(tokens);
    result = result === undefined || next === undefined ? undefined : result && next;
  }
  return result;
}

function oneLicence(tokens: string[]): boolean | undefined {
  const token = tokens.shift();
  if (token !== '(') return token === undefined || token === ')' ? undefined : permissive.has(token);
  const result = anyOf(tokens);
  return tokens.shift() === ')' ? result : undefined;
}

/** The folder of the package that a module belongs to; undefined for modules of this project. */
export function packageFolder(moduleId: string): string | undefined {
  const path = moduleId.replace(/^\0/, '').replace(/[?#].*$/, '');
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/.][^\\/]*(?=[\\/])/.exec(path)?.[0];
}

function licenceText({ name, version, folder }: BundledPackage): string {
  const files = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .sort();
  if (files.length === 0) throw new Error(`${name} ${version} has no file with its licence.`);
  return files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
}
