import { describe, expect, test } from 'vitest';
import { mayReopen } from '../../src/shell/reopen-guard.ts';

const url = 'https://gateway.example/docs/page#part';
const now = 1_700_000_000_000;
const seconds = (count: number) => count * 1_000;

describe('a page that the host answered with the shell is opened once more', () => {
  test('when nothing was opened before', () => {
    expect(mayReopen(url, false, null, now)).toBe(true);
  });

  test.each([
    'https://gateway.example/docs/page',
    'https://gateway.example/docs/',
    'https://gateway.example/docs/page#other',
  ])('when what was opened last is another URL: %s', (other) => {
    expect(mayReopen(url, false, { url: other, at: now }, now)).toBe(true);
  });

  test('when it was opened long ago', () => {
    expect(mayReopen(url, false, { url, at: now - seconds(31) }, now)).toBe(true);
  });

  test('when the user reloads, however soon', () => {
    expect(mayReopen(url, true, { url, at: now - 1 }, now)).toBe(true);
  });

  test('when the clock was since put back by much', () => {
    expect(mayReopen(url, false, { url, at: now + seconds(3_600) }, now)).toBe(true);
  });
});

describe('it is not opened again', () => {
  test.each([0, 1, seconds(29)])('%d ms after it was, for then the worker did not answer', (age) => {
    expect(mayReopen(url, false, { url, at: now - age }, now)).toBe(false);
  });

  test('when the clock was since put back a little', () => {
    expect(mayReopen(url, false, { url, at: now + seconds(2) }, now)).toBe(false);
  });
});
