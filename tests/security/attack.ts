import { expect, test } from '../support/chromium.ts';
import { type Attack, attackAnnotation } from './attack-row.ts';

type TestBody = Parameters<typeof test>[2];

export interface AttackOptions extends Partial<Pick<Attack, 'alsoIn'>> {
  /** `@full` for an attack that only the full tier runs: it is long, and the other tiers run one of its kind. */
  tag?: '@full';
}

/** An attack of several that one test makes. */
export type AttackOfSeveral = Pick<Attack, 'name' | 'outcome'> & Partial<Pick<Attack, 'alsoIn'>>;

/** As `expect`, but the test goes on after a failure. In a test of several attacks, each attack has a verdict of its own. */
export const verdict = expect.configure({ soft: true });

/**
 * Declares a test that attacks the gateway. It passes when the attack fails, and becomes a row of docs/reference/attacks.md.
 * @param group what is attacked.
 * @param name what the attacker does.
 * @param outcome what happens instead.
 */
export function attack(
  group: string,
  name: string,
  outcome: string,
  body: TestBody,
  { alsoIn = [], tag }: AttackOptions = {},
): void {
  declare(`${group}: ${name}`, [{ group, name, outcome, alsoIn }], body, tag);
}

/**
 * Declares one test that makes several attacks with the same pages, which saves a site, a visit and a wait for each of them.
 * Each attack becomes a row of docs/reference/attacks.md. The body uses `verdict` with the name of the attack, so that the
 * failure of one attack hides no other.
 * @param title what the attacks have in common.
 */
export function attacks(
  group: string,
  title: string,
  rows: readonly AttackOfSeveral[],
  body: TestBody,
  { tag }: Pick<AttackOptions, 'tag'> = {},
): void {
  declare(
    `${group}: ${title}`,
    rows.map(({ name, outcome, alsoIn = [] }) => ({ group, name, outcome, alsoIn })),
    body,
    tag,
  );
}

function declare(title: string, rows: readonly Attack[], body: TestBody, tag: AttackOptions['tag']): void {
  const annotation = rows.map((row) => ({ type: attackAnnotation, description: JSON.stringify(row) }));
  test(title, { annotation, ...(tag && { tag }) }, body);
}
