import { test } from '../support/chromium.ts';

/** One row of the table in docs/reference/attacks.md. */
export interface Attack {
  /** The target of the attack: the heading above the row. */
  group: string;
  /** The action of the attacker. */
  name: string;
  /** The outcome instead. */
  outcome: string;
  /** Other browsers whose suites try the same. */
  alsoIn: readonly ('Firefox' | 'WebKitGTK')[];
}

/** The type of the annotation that marks a test as an attack, for `table-reporter.ts`. */
export const attackAnnotation = 'attack';

type TestBody = Parameters<typeof test>[2];

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
  { alsoIn = [] }: Partial<Pick<Attack, 'alsoIn'>> = {},
): void {
  const row: Attack = { group, name, outcome, alsoIn };
  test(
    `${group}: ${name}`,
    { annotation: { type: attackAnnotation, description: JSON.stringify(row) } },
    body,
  );
}
