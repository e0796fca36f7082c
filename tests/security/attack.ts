import { test } from '../support/chromium.ts';
import { type Attack, attackAnnotation } from './attack-row.ts';

type TestBody = Parameters<typeof test>[2];

export interface AttackOptions extends Partial<Pick<Attack, 'alsoIn'>> {
  /** `@full` for an attack that only the full tier runs: it is long, and the other tiers run one of its kind. */
  tag?: '@full';
}

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
  const row: Attack = { group, name, outcome, alsoIn };
  test(
    `${group}: ${name}`,
    {
      annotation: { type: attackAnnotation, description: JSON.stringify(row) },
      ...(tag && { tag }),
    },
    body,
  );
}
