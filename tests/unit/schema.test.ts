import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as s from '../../src/schema.ts';

/** The parsed value, or the key and reason of the mismatch. */
function resultOf<T>(schema: s.Schema<T>, value: unknown): T | [key: string, expectation: string] {
  try {
    return schema.parse(value, '');
  } catch (error) {
    expect(error).toBeInstanceOf(s.Mismatch);
    const { key, expectation } = error as s.Mismatch;
    return [key, expectation];
  }
}

const person = s.object({
  name: s.string(),
  tags: s.optional(s.array(s.oneOf('a', 'b'), 2)),
  born: s.nullable(s.object({ year: s.integer('years') })),
});

describe('a schema', () => {
  it('copies declared properties only', () => {
    const value = JSON.parse(
      '{"name":"x","born":{"year":1,"extra":1},"extra":1,"__proto__":{"isAdmin":true}}',
    );
    const parsed = person.parse(value, '') as object;
    expect(parsed).toEqual({ name: 'x', born: { year: 1 } });
    expect('isAdmin' in parsed).toBe(false);
  });

  it.each<[unknown, string, string]>([
    [null, '', 'it must be an object'],
    [[], '', 'it must be an object'],
    [{ born: null }, 'name', 'it is missing'],
    [{ name: 1, born: null }, 'name', 'it must be text'],
    [{ name: 'x', tags: null, born: null }, 'tags', 'it must be a list of at most 2 items'],
    [{ name: 'x', tags: ['a', 'c'], born: null }, 'tags[1]', 'it must be one of "a", "b"'],
    [{ name: 'x', tags: ['a', 'a', 'a'], born: null }, 'tags', 'it must be a list of at most 2 items'],
    [{ name: 'x', tags: Array(2), born: null }, 'tags[0]', 'it is missing'],
    [{ name: 'x' }, 'born', 'it is missing'],
    [{ name: 'x', born: { year: 0.5 } }, 'born.year', 'it must be a whole number of years'],
  ])('names the wrong part of %j', (value, key, expectation) => {
    expect(resultOf(person, value)).toEqual([key, expectation]);
  });

  it('of an array refuses a huge array without reading all of it', () => {
    const huge = Array(2 ** 32 - 1);
    expect(resultOf(s.array(s.string()), huge)).toEqual(['[0]', 'it is missing']);
    expect(resultOf(s.array(s.unknown, 5), huge)).toEqual(['', 'it must be a list of at most 5 items']);
  });

  it('of a strict object refuses undeclared properties, also if every object inherits them', () => {
    const strict = s.strictObject({ a: s.optional(s.boolean) });
    for (const name of ['b', 'constructor', '__proto__', 'toString']) {
      const value = JSON.parse(`{"${name}":true}`);
      expect(resultOf(strict, value)).toEqual([name, 'there is no such key']);
    }
  });

  it('of a record takes any name as a property of its own', () => {
    const value = JSON.parse('{"constructor":1,"__proto__":2,"toString":3}');
    const parsed = s.record(s.string(), s.unknown).parse(value, '');
    expect(Object.entries(parsed)).toEqual(Object.entries(value));
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });

  it('may change values, and keeps the code of an error of its own', () => {
    expect(s.transform(s.number(5), Math.round).parse(1.5, '')).toBe(2);
    const fails = s.transform(s.unknown, () => {
      throw new RangeError('own');
    });
    expect(() => s.parse(fails, 1, 'REFUSED')).toThrow(RangeError);
  });

  it('is parsed with a code, a place and a key', () => {
    expect(() => s.parse(person, { name: 1 }, 'REFUSED', 'The person')).toThrow(
      expect.objectContaining({
        code: 'REFUSED',
        message: 'The person, name: it must be text.',
        details: { key: 'name' },
      }),
    );
    expect(() => s.parse(person, 1, 'REFUSED')).toThrow('the whole: it must be an object.');
  });
});

it('a schema and its JSON Schema agree about any value', () => {
  const schemas: s.Schema<unknown>[] = [
    s.unknown,
    s.boolean,
    s.string(),
    s.string('it must be a word', /^[a-z]+$/),
    s.number(10),
    s.integer('bytes'),
    s.oneOf('a', 'b'),
    s.array(s.boolean),
    person,
    s.strictObject({ name: s.optional(s.string()) }),
    s.record(s.string('it must be a word', /^[a-z]+$/), s.nullable(s.boolean)),
    s.check(s.string(), () => true, 'it is never wrong'),
  ];
  const ajv = new Ajv2020({ strict: false });
  const validators = schemas.map((schema) => ({ schema, isValid: ajv.compile(schema.json) }));
  const key = fc.constantFrom('name', 'born', 'tags', 'year', '__proto__', 'constructor', 'a b');
  const value = fc.anything({ key, maxDepth: 3, maxKeys: 3, withNullPrototype: true });
  const json = value.map((value) => JSON.parse(JSON.stringify(value) ?? 'null'));
  fc.assert(
    fc.property(json, (value) => {
      for (const { schema, isValid } of validators) {
        const isMismatch = Array.isArray(
          resultOf(
            s.transform(schema, () => true),
            value,
          ),
        );
        expect(isMismatch).toBe(!isValid(value));
      }
    }),
    { numRuns: 500 },
  );
});
