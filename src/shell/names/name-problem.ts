import { asName, lookAlike, nameProblem } from '../../names/petname.ts';
import { formatCount } from '../format.ts';
import { nameTexts } from '../texts/names.ts';

/** More names than this cannot be in a backup. */
const mostNames = 1_000;

/**
 * Why the user cannot give an address this name, as a text. Null if the user can.
 * @param text as typed. @param names the user's other names, with their addresses.
 */
export function textOfNameProblem(
  text: string,
  names: Readonly<Record<string, string>>,
  address: string,
): string | null {
  const t = nameTexts();
  const name = asName(text.replace(/^\s*~/, ''));
  const problem = nameProblem(name);
  if (problem) return t.problems[problem];
  const known = Object.hasOwn(names, name) ? names[name]! : undefined;
  if (known !== undefined && known.toLowerCase() !== address.toLowerCase()) return t.taken(`~${name}`);
  const alike = lookAlike(name, Object.keys(names));
  if (alike !== undefined) return t.alike(`~${alike}`);
  const count = Object.keys(names).length;
  return known === undefined && count >= mostNames ? t.tooMany(formatCount(count)) : null;
}
