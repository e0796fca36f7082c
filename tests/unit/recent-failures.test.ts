import { expect, test } from 'vitest';
import { RecentFailures } from '../../src/shell/recent-failures.ts';

function setUp() {
  const clock = { now: 0 };
  return { clock, failures: new RecentFailures<string>(100, () => clock.now) };
}

test('a failure is remembered for the given time, and by its key only', () => {
  const { clock, failures } = setUp();
  failures.add('a', 'no answer');
  clock.now = 99;
  expect([failures.get('a'), failures.get('b')]).toEqual(['no answer', undefined]);
  clock.now = 100;
  expect(failures.get('a')).toBeUndefined();
});

test('a success, and a network that is back, end it before', () => {
  const { failures } = setUp();
  for (const key of ['a', 'b', 'c']) failures.add(key, 'no answer');
  failures.delete('a');
  expect([failures.get('a'), failures.get('b')]).toEqual([undefined, 'no answer']);
  failures.clear();
  expect([failures.get('b'), failures.get('c')]).toEqual([undefined, undefined]);
});

test('a failure that comes again is remembered from then on', () => {
  const { clock, failures } = setUp();
  failures.add('a', 'first');
  clock.now = 80;
  failures.add('a', 'second');
  clock.now = 150;
  expect(failures.get('a')).toBe('second');
});
