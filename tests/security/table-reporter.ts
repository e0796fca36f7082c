import { readFileSync, writeFileSync } from 'node:fs';
import type { FullResult, Reporter, Suite, TestCase } from '@playwright/test/reporter';
import { fromRoot } from '../support/paths.ts';
import { type Attack, attackAnnotation } from './attack.ts';

const documentPath = fromRoot('docs/reference/attacks.md');

const introduction = `# Attacks

Each row is a test in \`tests/security/\`. The test publishes a hostile site to a real peer, opens it in a real Chromium
and passes only when the attack fails. The run writes this table; [Security](../explanation/security.md) explains the
policy behind it.
`;

/** The table of these attacks, one section for each group in order of first appearance. */
export function renderAttacks(attacks: readonly Attack[]): string {
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

/**
 * Compares docs/reference/attacks.md with the attacks of a complete run, and fails the run when they differ. With
 * `UPDATE_DOCS=1` it writes the file instead. A run of only some tests is not compared.
 */
export default class AttackTable implements Reporter {
  #suite: Suite | undefined;

  onBegin(_config: unknown, suite: Suite): void {
    this.#suite = suite;
  }

  async onEnd({ status }: FullResult): Promise<{ status?: FullResult['status'] } | undefined> {
    const isComplete = process.env.ANTWAY_ALL_TESTS || process.env.UPDATE_DOCS;
    if (!isComplete || !this.#suite || status !== 'passed') return undefined;
    const attacks = this.#suite
      .allTests()
      // The order of the files, in whichever browsers they ran.
      .toSorted((a, b) => fileOf(a).localeCompare(fileOf(b)))
      .flatMap(({ annotations }) => annotations.filter(({ type }) => type === attackAnnotation))
      .map(({ description }) => JSON.parse(description!) as Attack);
    const text = renderAttacks(attacks);
    if (process.env.UPDATE_DOCS) {
      if (attacks.length > 0) writeFileSync(documentPath, text);
      return undefined;
    }
    if (readFileSync(documentPath, 'utf8') === text) return undefined;
    console.error(
      'docs/reference/attacks.md is not what this run gave. Run the security tests with UPDATE_DOCS=1.',
    );
    return { status: 'failed' };
  }
}

/** The test's path in `tests/`. */
function fileOf(test: TestCase): string {
  const [, , file] = test.titlePath();
  return file!;
}
