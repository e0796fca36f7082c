import { describe, expect, it } from 'vitest';
import { ifRangeHolds, matchHolds, noneMatchFails } from '../../src/gateway/http/conditions.ts';

const etag = '"abc"';

describe('a condition of a request', () => {
  it.each<[string | null, boolean]>([
    [null, false],
    ['"abc"', true],
    ['W/"abc"', true],
    ['*', true],
    [' * ', true],
    ['"x", W/"abc" , "y"', true],
    ['"x"', false],
    ['abc', false],
    ['"ABC"', false],
    ['"abc', false],
    ['"x,"abc""', false],
    ['', false],
  ])('If-None-Match: %s stops the answer: %s', (header, fails) => {
    expect(noneMatchFails(header, etag)).toBe(fails);
  });

  it.each<[string | null, boolean]>([
    [null, true],
    ['"abc"', true],
    ['*', true],
    ['"x", "abc"', true],
    // A weak validator never matches strongly.
    ['W/"abc"', false],
    ['"x"', false],
    ['', false],
  ])('If-Match: %s lets the answer through: %s', (header, holds) => {
    expect(matchHolds(header, etag)).toBe(holds);
  });

  it.each<[string | null, boolean]>([
    [null, true],
    ['"abc"', true],
    ['W/"abc"', false],
    ['"x"', false],
    ['Wed, 21 Oct 2015 07:28:00 GMT', false],
    ['"abc", "x"', false],
  ])('If-Range: %s lets a part be sent: %s', (header, holds) => {
    expect(ifRangeHolds(header, etag)).toBe(holds);
  });
});
