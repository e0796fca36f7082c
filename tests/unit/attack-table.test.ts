// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { type Attack, attackAnnotation } from '../security/attack-row.ts';
import { listedTests } from '../support/listed-tests.ts';
import { fromRoot } from '../support/paths.ts';

const documentPath = fromRoot('docs/reference/attacks.md');

const introduction = `# Attacks

Each row is an attack of a test in \`tests/security/\`. The test publishes a hostile site to a real peer, opens it in a
real Chromium and passes only when the attack fails. Several attacks may share a site; each has a verdict of its own.
[Security](../explanation/security.md) explains the policy behind it.
`;

/** The attacks of all security tests, in the order of the files, and whether only the full tier runs them. */
let attacks: (Attack & { isFull: boolean })[];

beforeAll(async () => {
  attacks = (await listedTests(['tests/security'])).flatMap(({ tags, annotations }) =>
    annotations
      .filter(({ type }) => type === attackAnnotation)
      .map(({ description }) => ({ ...(JSON.parse(description!) as Attack), isFull: tags.includes('full') })),
  );
});

/** The table of the attacks, one section for each group in order of first appearance. */
function renderAttacks(): string {
  let text = `${introduction}\n${attacks.length} attacks, none of which succeeds.\n`;
  for (const group of new Set(attacks.map((attack) => attack.group))) {
    text += `\n## ${group}\n\n| attack | result | browsers |\n| --- | --- | --- |\n`;
    for (const attack of attacks.filter((other) => other.group === group)) {
      const cells = [attack.name, attack.outcome, ['Chromium', ...attack.alsoIn].join(', ')];
      text += `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
    }
  }
  return text;
}

test('docs/reference/attacks.md lists the attacks of tests/security (UPDATE_DOCS=1 writes it)', () => {
  const text = renderAttacks();
  if (process.env.UPDATE_DOCS) writeFileSync(documentPath, text);
  expect(readFileSync(documentPath, 'utf8')).toBe(text);
});

test('the default tier runs an attack of each group', () => {
  const groups = (some: typeof attacks) => [...new Set(some.map(({ group }) => group))];
  expect(groups(attacks.filter(({ isFull }) => !isFull)).sort()).toEqual(groups(attacks).sort());
});
