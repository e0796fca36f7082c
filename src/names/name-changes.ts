import { nameProblem, skeletonsOf } from './petname.ts';

/** A name that is not taken over, and why. */
export interface LeftName {
  name: string;
  /** A sentence for the user. */
  reason: string;
}

export interface NameBounds {
  taken?: Readonly<Record<string, string>> | undefined;
  most?: number;
}

/**
 * Adds names that a file brings to the user's own names, which stay as they are. Names that are invalid, or that look like
 * another name, are left out: a file of a stranger could otherwise bring names that the user confuses.
 * @param options `taken`: names of others, such as the host, which the brought ones must not look like. `most`: how many
 *   names there may be.
 */
export function mergeNames(
  own: Readonly<Record<string, string>>,
  brought: Readonly<Record<string, string>>,
  { taken = {}, most = Number.POSITIVE_INFINITY }: NameBounds = {},
): { names: Record<string, string>; left: LeftName[] } {
  const names = new Map(Object.entries(own));
  const bySkeleton = new Map<string, string>();
  const note = (name: string) => {
    for (const skeleton of skeletonsOf(name)) bySkeleton.set(skeleton, name);
  };
  for (const name of [...Object.keys(taken), ...names.keys()]) note(name);
  const left: LeftName[] = [];
  for (const [name, address] of Object.entries(brought)) {
    const known = names.get(name);
    const problem = nameProblem(name);
    const alike = skeletonsOf(name).find((skeleton) => bySkeleton.has(skeleton));
    if (known !== undefined) {
      const isSame = known.toLowerCase() === address.toLowerCase();
      if (!isSame) left.push({ name, reason: 'You have this name for another address.' });
    } else if (problem) {
      left.push({ name, reason: `It is no valid name (${problem}).` });
    } else if (alike !== undefined) {
      left.push({ name, reason: `It looks like “${bySkeleton.get(alike)}”.` });
    } else if (names.size >= most) {
      left.push({ name, reason: `There are ${most} names, and no more are possible.` });
    } else {
      names.set(name, address);
      note(name);
    }
  }
  return { names: Object.fromEntries(names), left };
}
