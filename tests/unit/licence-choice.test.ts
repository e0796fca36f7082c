import { expect, it } from 'vitest';
import { chooseLicences } from '../../build/crates/licence-choice.mjs';

it.each([
  ['MIT', ['MIT']],
  ['MIT OR Apache-2.0', ['Apache-2.0']],
  ['MIT/Apache-2.0', ['Apache-2.0']],
  ['Apache-2.0 AND ISC', ['Apache-2.0', 'ISC']],
  ['(MIT OR Apache-2.0) AND Unicode-3.0', ['Apache-2.0', 'Unicode-3.0']],
  ['Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT', ['Apache-2.0']],
  ['GPL-3.0-or-later OR MIT', ['MIT']],
  ['MPL-2.0', ['MPL-2.0']],
])('of “%s” it chooses %j', (expression, chosen) => {
  expect(chooseLicences(expression)).toEqual(chosen);
});

it.each([
  'GPL-3.0',
  'MIT AND GPL-3.0',
  '',
  null,
  'MIT OR',
  'MIT AND',
  '(MIT',
  'MIT)',
  'MIT Apache-2.0',
  'Apache-2.0 WITH',
  'OR MIT',
])('it refuses “%s”', (expression) => {
  expect(chooseLicences(expression)).toBeUndefined();
});
