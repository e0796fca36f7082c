import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { AntwayError } from '../../src/errors.ts';
import * as s from '../../src/schema.ts';
import { jsonSchemaOf } from './support/config-json-schema.ts';

const parse = <T>(schema: s.Schema<T>, value: unknown) => s.parse(schema, value, 'REFUSED');

/** The parsed value, or the message about the mismatch. */
function resultOf<T>(schema: s.Schema<T>, value: unknown): T | string {
  try {
    return parse(schema, value);
  } catch (error) {
    expect(error).toBeInstanceOf(AntwayError);
    return (error as AntwayError).message;
  }
}

const person = s.object({
  name: v.string(),
  tags: v.optional(s.list(v.picklist(['a', 'b']), 2)),
  born: v.nullable(s.object({ year: s.integer('years') })),
});

describe('a schema', () => {
  it('copies declared properties only', () => {
    const value = JSON.parse(
      '{"name":"x","born":{"year":1,"extra":1},"extra":1,"__proto__":{"isAdmin":true}}',
    );
    const parsed = parse(person, value);
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
    expect(resultOf(person, value)).toBe(`${key || 'the whole'}: ${expectation}.`);
  });

  it('of an array refuses a huge array without reading all of it', () => {
    const huge = Array(2 ** 32 - 1);
    expect(resultOf(v.array(v.string()), huge)).toBe('[0]: it is missing.');
    expect(resultOf(s.list(v.unknown(), 5), huge)).toBe('the whole: it must be a list of at most 5 items.');
  });

  it('of a strict object refuses undeclared properties, also if every object inherits them', () => {
    const strict = s.strictObject({ a: v.optional(v.boolean()) });
    for (const name of ['b', 'constructor', '__proto__', 'toString']) {
      const value = JSON.parse(`{"${name}":true}`);
      expect(resultOf(strict, value)).toBe(`${name}: there is no such key.`);
    }
  });

  it('of a record takes any name as a property of its own', () => {
    const value = JSON.parse('{"constructor":1,"__proto__":2,"toString":3}');
    const parsed = parse(s.record(v.string(), v.unknown()), value);
    expect(Object.entries(parsed)).toEqual(Object.entries(value));
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });

  it('of a record names the wrong part', () => {
    const schema = s.record(s.pattern(/^[a-z]+$/, 'it must be a word'), v.boolean());
    expect(resultOf(schema, [])).toBe('the whole: it must be an object.');
    expect(resultOf(schema, JSON.parse('{"__proto__":true}'))).toBe('__proto__: it must be a word.');
    expect(resultOf(schema, { constructor: 1 })).toBe('constructor: it must be true or false.');
  });

  it('of an object drops optional properties that are undefined', () => {
    const parsed = parse(s.strictObject({ a: v.optional(v.boolean()) }), { a: undefined });
    expect(Object.keys(parsed)).toEqual([]);
  });

  it('may change values, and keeps the code of an error of its own', () => {
    expect(parse(v.pipe(s.number(5), v.transform(Math.round)), 1.5)).toBe(2);
    const fails = v.pipe(
      v.unknown(),
      v.transform(() => {
        throw new RangeError('own');
      }),
    );
    expect(() => parse(fails, 1)).toThrow(RangeError);
  });

  it('stops at the first wrong item', () => {
    let reads = 0;
    const counted = v.custom(() => ++reads < 3, 'it is the third');
    expect(resultOf(v.array(counted), Array(1_000).fill(0))).toBe('[2]: it is the third.');
    expect(reads).toBe(3);
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
    v.unknown(),
    v.boolean(),
    v.string(),
    s.pattern(/^[a-z]+$/, 'it must be a word'),
    s.number(10),
    s.integer('bytes'),
    v.picklist(['a', 'b']),
    v.array(v.boolean()),
    person,
    s.strictObject({ name: v.optional(v.string()) }),
    s.record(s.pattern(/^[a-z]+$/, 'it must be a word'), v.nullable(v.boolean())),
    v.pipe(
      v.string(),
      v.check(() => true),
    ),
  ];
  const ajv = new Ajv2020({ strict: false });
  const validators = schemas.map((schema) => ({ schema, isValid: ajv.compile(jsonSchemaOf(schema)) }));
  const key = fc.constantFrom('name', 'born', 'tags', 'year', '__proto__', 'constructor', 'a b');
  const value = fc.anything({ key, maxDepth: 3, maxKeys: 3, withNullPrototype: true });
  const json = value.map((value) => JSON.parse(JSON.stringify(value) ?? 'null'));
  fc.assert(
    fc.property(json, (value) => {
      for (const { schema, isValid } of validators) {
        const isMismatch = !v.safeParse(schema, value).success;
        expect(isMismatch).toBe(!isValid(value));
      }
    }),
    { numRuns: 500 },
  );
});
