import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { introduction } from '../http/introduction.ts';
import { fromRoot } from '../support/paths.ts';

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(fromRoot('docs'), { recursive: true, encoding: 'utf8' })
    // The types of the API are generated for the documentation site.
    .filter((name) => name.endsWith('.md') && !name.startsWith(join('reference', 'types')))
    .map((name) => `docs/${name}`)
    .sort(),
];

const otherDocuments = [
  'SECURITY.md',
  'CHANGELOG.md',
  'examples/README.md',
  'sw/README.md',
  'tests/fixtures/README.md',
];

const read = (path: string) => readFileSync(fromRoot(path), 'utf8');

/** A document without its blocks of code. */
function withoutCode(text: string): string {
  return text.replace(/^ *(```+)[^\n]*\n[\s\S]*?^ *\1 *$/gm, '');
}

/** A document without its code, which may contain anything. */
function prose(text: string): string {
  return withoutCode(text).replace(/(`+)[^`]+?\1/g, (code) => (code.includes('](') ? '' : code));
}

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  const uses = new Map<string, number>();
  for (const [, heading] of prose(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = anchorOf(heading!);
    const used = uses.get(anchor) ?? 0;
    uses.set(anchor, used + 1);
    anchors.add(used ? `${anchor}-${used}` : anchor);
  }
  return anchors;
}

/** Links to other files and to headings. */
function linksOf(text: string): string[] {
  return Array.from(prose(text).matchAll(/\]\(([^()\s]+)\)/g), ([, href]) => href!).filter(
    (href) => !/^[a-z][a-z+.-]*:/i.test(href),
  );
}

/** Why a link leads nowhere, or undefined. */
function fault(from: string, href: string): string | undefined {
  const [path = '', anchor] = href.split('#');
  const target = path ? relative(fromRoot('.'), join(fromRoot('.'), dirname(from), path)) : from;
  if (!existsSync(fromRoot(target))) return `${from}: there is no ${target}`;
  if (anchor === undefined || anchorsOf(read(target)).has(anchor)) return undefined;
  return `${from}: ${target} has no heading #${anchor}`;
}

describe('the documents', () => {
  it.each(documents)('%s has only links that lead somewhere', (path) => {
    expect(linksOf(read(path)).flatMap((href) => fault(path, href) ?? [])).toEqual([]);
  });

  it('are found with their links', () => {
    expect(documents.length).toBeGreaterThan(40);
    expect(documents.flatMap((path) => linksOf(read(path))).length).toBeGreaterThan(200);
    expect(fault('README.md', 'docs/none.md')).toContain('there is no docs/none.md');
    expect(fault('README.md', 'docs/README.md#none')).toContain('no heading #none');
  });

  it('show every picture that is stored for them', () => {
    const shown = new Set(
      documents.flatMap((path) => linksOf(read(path)).map((href) => join(dirname(path), href))),
    );
    const stored = readdirSync(fromRoot('docs/screenshots')).map((name) => `docs/screenshots/${name}`);
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.filter((path) => !shown.has(path))).toEqual([]);
  });

  it('are all in the index', () => {
    const indexed = new Set(linksOf(read('docs/README.md')).map((href) => `docs/${href}`));
    expect(
      documents.filter((path) => path.startsWith('docs/') && path !== 'docs/README.md' && !indexed.has(path)),
    ).toEqual([]);
  });

  it.each([
    ['docs/explanation/architecture.md', 2_500],
    ['docs/explanation/performance.md', 1_500],
    ['docs/explanation/reliability.md', 1_000],
  ])('%s has at most %i words', (path, most) => {
    expect(read(path).split(/\s+/).length).toBeLessThanOrEqual(most);
  });

  it.each([...documents, ...otherDocuments])(
    '%s has no line of prose with more than 120 characters',
    (path) => {
      const lines = withoutCode(read(path)).split('\n');
      const isExempt = (line: string) =>
        /^\s*\|/.test(line) ||
        /https?:\/\//.test(line) ||
        !/\S\s+\S/.test(line.replace(/^\s*([-*]|\d+\.)\s+/, ''));
      expect(lines.filter((line) => line.length > 120 && !isExempt(line))).toEqual([]);
    },
  );

  it('name only files that exist, where they name one with its folder', () => {
    const named = /`((?:src|sw|build|tests|perf|peer|examples)\/[\w./-]+\.(?:ts|tsx|mjs|rs|py))`/g;
    const missing = documents.flatMap((path) =>
      Array.from(read(path).matchAll(named), ([, file]) => file!)
        .filter((file) => !existsSync(fromRoot(file)))
        .map((file) => `${path}: ${file}`),
    );
    expect(missing).toEqual([]);
  });

  it('exist where a source names them', () => {
    const named =
      /docs\/(?:tutorials|how-to|reference|explanation|decisions)\/[\w-]+\.(?:md|json)|docs\/[A-Z]\w+\.md/g;
    const sources = ['src', 'sw', 'build', 'perf', 'tests', 'peer/src'].flatMap((folder) =>
      readdirSync(fromRoot(folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|tsx|mjs|rs)$/.test(name) && !/(^|\/)(fixtures|target)\//.test(name))
        .map((name) => `${folder}/${name}`),
    );
    const mentions = sources
      .filter((path) => path !== 'tests/unit/documents.test.ts')
      .flatMap((path) => Array.from(read(path).matchAll(named), ([document]) => ({ path, document })));
    expect(mentions.length).toBeGreaterThan(10);
    expect(mentions.filter(({ document }) => !existsSync(fromRoot(document)))).toEqual([]);
  });

  it('begin as their generators do, where a test writes them', () => {
    expect(read('docs/reference/http-cases.md').startsWith(`${introduction.trimEnd()}\n\nAntway: `)).toBe(
      true,
    );
  });
});
