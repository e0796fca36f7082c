import type { Site } from './sites.ts';

const heading = '## The sites\n';

/** The document with the section that lists the sites, which is its last. */
export function documentWithTable(text: string, sites: readonly Site[]): string {
  const start = text.indexOf(heading);
  if (start < 0) throw new Error(`The document has no section “${heading.trim()}”.`);
  return `${text.slice(0, start)}${heading}\n${introduction(sites)}\n\n${table(sites)}`;
}

function introduction(sites: readonly Site[]): string {
  const always = sites.filter(({ isAlwaysTested }) => isAlwaysTested).map(({ name }) => name);
  return `The tests in \`tests/third-party/\` publish each package unchanged, add a page where it is a library, and open it in
Chromium on a static host and on Antway. On both, the same checks have to pass: at the first visit and after a reload.
On Antway the site may report no error that it does not report on the static host, and it has to pass again without peer
and network. \`npm test\` runs ${always.slice(0, -1).join(', ')} and ${always.at(-1)}; \`npm run test:third-party\` runs all of them.`;
}

function table(sites: readonly Site[]): string {
  const rows = sites.map((site) => {
    const { name, package: from, checked, withoutWorker, isWorkerIncomplete } = site;
    const withWorker = isWorkerIncomplete
      ? 'passes; the package lacks files that its own worker needs'
      : 'passes, with its own worker';
    return [
      name,
      `${from.name} ${from.version} (${from.registry})`,
      checked,
      withoutWorker === undefined ? 'passes' : withWorker,
      withoutWorker === undefined ? 'passes' : `passes, without its own worker: ${withoutWorker}`,
    ];
  });
  const header = ['site', 'package', 'what is checked', 'on a static host', 'on Antway'];
  return [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}
