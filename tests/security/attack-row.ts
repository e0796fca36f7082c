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

/** The type of the annotation that marks a test as an attack. */
export const attackAnnotation = 'attack';
