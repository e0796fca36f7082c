/**
 * `/-/self-test`, a page of the gateway's own origin. It checks what the gateway needs of a browser, and makes a report
 * for people who tell us about their device. It uses no endpoint of the worker, so the worker gives it no more than any
 * page.
 */
import { firstSpoken } from '../../languages.ts';
import { byteFormat } from '../../util/byte-format.ts';
import { announcement, button, element, link } from '../elements.ts';
import { createChecks } from './checks.ts';
import { type CheckId, createReport, type Facts, type Result } from './report.ts';
import { runChecks } from './run-checks.ts';
import css from './self-test.css?inline';
import { selfTestTexts } from './texts.ts';

const language = firstSpoken(navigator.languages) ?? 'en';
const t = selfTestTexts[language];
const formatBytes = byteFormat(language, 'three');
const page = document.getElementById('page')!;

const marks = { passed: '✓', failed: '✕', missing: '–', skipped: '·' } as const;

// In the script, because each file of the build costs a hash in the worker.
const style = new CSSStyleSheet();
style.replaceSync(css);
document.adoptedStyleSheets = [style];

async function main(): Promise<void> {
  document.documentElement.lang = language;
  document.title = `${t.title} · Antway`;
  const status = announcement('status', '');
  status.className = 'verdict';
  const list = element('ul', [], { className: 'results' });
  page.replaceChildren(element('h1', [t.title]), element('p', [t.intro]), status, list);

  const showStart = (id: CheckId) => {
    status.textContent = t.running(t.checks[id]);
  };
  const results = await runChecks(createChecks(), showStart, (result) => list.append(rowOf(result)));
  status.textContent = verdictOf(results);
  const json = `${JSON.stringify(await createReport(results), null, 2)}\n`;
  const copied = announcement('status', '');
  const copy = button(t.copy, () => {
    navigator.clipboard.writeText(json).then(
      () => copied.replaceChildren(t.copied),
      () => copied.replaceChildren(t.notCopied),
    );
  });
  const text = element('pre', [json], { id: 'report', tabIndex: 0 });
  page.append(
    element('p', [copy, button(t.download, () => save(json)), button(t.again, () => void main())]),
    copied,
    element('details', [element('summary', [t.report]), text]),
    element('p', [link(t.home, '/')]),
  );
}

function rowOf({ id, state, facts, problem, milliseconds }: Result): HTMLElement {
  const mark = element('span', [marks[state]], { className: 'mark', ariaHidden: 'true' });
  const time = state === 'passed' ? ` (${milliseconds} ms)` : '';
  const name = element('span', [t.checks[id]]);
  const outcome = element('span', [t.states[state] + time], { className: 'state' });
  const row = element('li', [mark, name, outcome]);
  row.dataset.check = id;
  row.dataset.state = state;
  const text = problem ? `${problem.message} (${problem.code})` : textOf(facts);
  if (text) row.append(element('span', [text], { className: 'facts' }));
  return row;
}

function textOf(facts: Facts): string {
  return Object.entries(facts)
    .map(([name, value]) => `${t.facts[name] ?? name}: ${textOfFact(name, value)}`)
    .join(' · ');
}

function textOfFact(name: string, value: Facts[string]): string {
  if (value === null) return t.unknown;
  if (typeof value === 'boolean') return value ? t.yes : t.no;
  if (typeof value === 'string') return value;
  if (name.endsWith('Ms')) return `${format(value)} ms`;
  if (name === 'bytesPerSecond') return `${formatBytes(value)}/s`;
  return /bytes$/i.test(name) ? formatBytes(value) : format(value);
}

function format(value: number): string {
  return value.toLocaleString(language, { maximumFractionDigits: 1 });
}

function verdictOf(results: readonly Result[]): string {
  const missed = results.filter(({ state }) => state === 'failed' || state === 'missing');
  const names = (of: readonly Result[]) => of.map(({ id }) => t.checks[id]).join(', ');
  const needed = missed.filter(({ needed }) => needed);
  if (needed.length > 0) return t.fails(names(needed));
  return missed.length > 0 ? t.worksPartly(names(missed)) : t.works;
}

function save(json: string): void {
  const href = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  element('a', [], { href, download: 'antway-self-test.json' }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

void main();
