import { test } from '../support/chromium.ts';
import { type Attack, attackAnnotation } from './attack-row.ts';

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
