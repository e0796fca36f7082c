import { expect, it } from 'vitest';
import { withName } from '../../src/shell/names/change-names.ts';

const [a, b] = ['aa'.repeat(32), 'bb'.repeat(32)] as const;

it('adds a name, and keeps the others', () => {
  expect(withName({ shop: a }, 'bank', b, '')).toEqual({ shop: a, bank: b });
  expect(withName({ bank: a.toUpperCase() }, 'bank', a, '')).toEqual({ bank: a });
  // Properties of every object are no names of the user.
  expect(withName({}, 'toString', a, '')).toEqual({ toString: a });
});

it('replaces no name that another page has given to another address', () => {
  const problem = expect.objectContaining({ code: 'CHANGED', message: 'It is taken.', isTranslated: true });
  expect(() => withName({ bank: a }, 'bank', b, 'It is taken.')).toThrow(problem);
});
