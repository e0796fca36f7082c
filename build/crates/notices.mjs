// `npm run notices:crates`: writes the licences of the crates in the peer to peer/THIRD-PARTY-NOTICES.txt. The peer
// prints this file. With `--check`, only tells whether the file is up to date.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseLicences } from './licence-choice.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const noticesFile = join(root, 'peer/THIRD-PARTY-NOTICES.txt');
/** The systems that the peer runs on. Other systems link other crates. */
const platforms = ['x86_64-unknown-linux-gnu', 'aarch64-apple-darwin'];
const apache = readFileSync(join(root, 'LICENSE-APACHE'), 'utf8').trim();
/** The texts of short licences, without the line of the copyright. */
const standardTexts = {
  MIT: readFileSync(join(root, 'LICENSE-MIT'), 'utf8')
    .replace(/^[\s\S]*?(?=Permission is hereby granted)/, '')
    .trim(),
  // It requires no text.
  'CC0-1.0': 'CC0 1.0 Universal: https://creativecommons.org/publicdomain/zero/1.0/legalcode',
  'BSD-3-Clause': readFileSync(fileURLToPath(new URL('bsd-3-clause.txt', import.meta.url)), 'utf8').trim(),
};

const notices = format(platforms.flatMap(linkedCrates));
if (!process.argv.includes('--check')) {
  writeFileSync(noticesFile, notices);
} else if (readFileSync(noticesFile, 'utf8') !== notices) {
  console.error('peer/THIRD-PARTY-NOTICES.txt is out of date. Run `npm run notices:crates`.');
  process.exit(1);
}

/** All crates that the peer needs on a platform, with all features, without those of tests and build scripts. */
function linkedCrates(platform) {
  const options = ['--format-version', '1', '--locked', '--all-features', '--filter-platform', platform];
  const { status, stdout } = spawnSync(
    'cargo',
    ['metadata', ...options, '--manifest-path', join(root, 'peer/Cargo.toml')],
    { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status !== 0) throw new Error('cargo metadata failed');
  const { packages, resolve } = JSON.parse(stdout);
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const linked = new Set([resolve.root]);
  for (const id of linked) {
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) {
      if (kinds.some(({ kind }) => kind === null)) linked.add(pkg);
    }
  }
  return packages.filter(({ id }) => linked.has(id) && id !== resolve.root);
}

/** The list of the crates, and each different text of a licence once. */
function format(crates) {
  const byName = new Map(crates.map((crate) => [`${crate.name} ${crate.version}`, crate]));
  const names = [...byName.keys()].sort();
  const list = [];
  /** @type {Map<string, string[]>} the crates of each text. */
  const texts = new Map();
  for (const name of names) {
    const crate = byName.get(name);
    const chosen = chooseLicences(crate.license);
    if (!chosen) throw new Error(`${name} has the licence “${crate.license}”.`);
    list.push(`  ${name}, ${chosen.join(' and ')}\n`);
    for (const text of licenceTexts(crate, chosen)) texts.set(text, [...(texts.get(text) ?? []), name]);
  }
  const sections = Array.from(
    texts,
    ([text, users]) => `${'='.repeat(80)}\n${users.join('\n')}\n\n${text}\n`,
  );
  return `antway-peer contains code of these crates, under the licences that follow:\n\n${list.join('')}\n${sections.join('\n')}`;
}

/** @returns the texts of the chosen licences, and notices that must come with them. */
function licenceTexts(crate, chosen) {
  const folder = dirname(crate.manifest_path);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice|unlicense)/i.test(file));
  const read = (file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
  // The Apache licence has the same text everywhere. It requires the crate's notice, if there is one.
  const isNotice = (file) => /^notice/i.test(file);
  const others = chosen.filter((licence) => !licence.startsWith('Apache-2.0'));
  const texts = others.length < chosen.length ? [apache, ...files.filter(isNotice).map(read)] : [];
  if (others.length === 0) return texts;
  const own = files.filter((file) => !/apache/i.test(file) && !isNotice(file)).sort();
  if (own.length > 0) return [...texts, ...own.map(read)];
  return [...texts, ...others.map((licence) => standardText(licence, crate))];
}

/** The text of a licence whose crate has no file with it. */
function standardText(licence, { name, version, authors, repository }) {
  const text = standardTexts[licence];
  if (!text) throw new Error(`${name} ${version} has no file with the licence ${licence}.`);
  const holders = authors.length > 0 ? authors.join(', ') : `the authors of ${name} (${repository})`;
  return `Copyright (c) ${holders}\n\n${text}`;
}
