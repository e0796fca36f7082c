import { AntwayError, type ErrorCode } from './errors.ts';

/** Validates values from other programs and from storage. Also describes them as JSON Schema. */
export interface Schema<T> {
  readonly json: object;
  /**
   * Returns the validated value. Objects are copied without undeclared properties.
   * @param key the path of the value, such as `peers[0]`. Empty for the whole.
   * @throws Mismatch
   */
  parse(value: unknown, key: string): T;
}

/** A property that may be missing. */
export interface Optional<T> extends Schema<T> {
  readonly isOptional: true;
}

/** The type of the values of a schema. */
export type Infer<S> = S extends Schema<infer T> ? T : never;

type Properties = Record<string, Schema<unknown>>;

type ObjectOf<P extends Properties> = {
  [K in keyof P as P[K] extends Optional<unknown> ? never : K]: Infer<P[K]>;
} & {
  [K in keyof P as P[K] extends Optional<unknown> ? K : never]?: Infer<P[K]>;
} extends infer O
  ? { [K in keyof O]: O[K] }
  : never;

/** A value differs from its schema. */
export class Mismatch extends Error {
  /** @param expectation what is wrong, such as `it must be true or false`. */
  constructor(
    readonly key: string,
    readonly expectation: string,
  ) {
    super();
  }
}

/**
 * Parses a value.
 * @param place names the value in the error message, such as `antway.json`.
 * @throws AntwayError with this code. `details.key` is the path of the wrong part.
 */
export function parse<T>(schema: Schema<T>, value: unknown, code: ErrorCode, place = '', key = ''): T {
  try {
    return schema.parse(value, key);
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    const at = error.key || 'the whole';
    throw new AntwayError(code, `${place && `${place}, `}${at}: ${error.expectation}.`, { key: at });
  }
}

function schema<T>(json: object, expectation: string, isValid: (value: unknown) => boolean): Schema<T> {
  return {
    json,
    parse(value, key) {
      if (isValid(value)) return value as T;
      throw new Mismatch(key, value === undefined ? 'it is missing' : expectation);
    },
  };
}

export const unknown = schema<unknown>({}, '', () => true);

export const boolean = schema<boolean>(
  { type: 'boolean' },
  'it must be true or false',
  (value) => typeof value === 'boolean',
);

/** @param pattern has no flags, because JSON Schema has none. */
export function string(expectation = 'it must be text', pattern?: RegExp): Schema<string> {
  const json = { type: 'string', ...(pattern && { pattern: pattern.source }) };
  return schema(json, expectation, (value) => typeof value === 'string' && pattern?.test(value) !== false);
}

/** A number from 0 to `maximum`. */
export function number(maximum: number): Schema<number> {
  const isValid = (value: unknown) => typeof value === 'number' && value >= 0 && value <= maximum;
  return schema({ type: 'number', minimum: 0, maximum }, `it must be a number from 0 to ${maximum}`, isValid);
}

/** A whole number of `unit`, 0 or more. */
export function integer(unit: string): Schema<number> {
  return schema(
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    `it must be a whole number of ${unit}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  );
}

export function oneOf<const T extends readonly string[]>(...values: T): Schema<T[number]> {
  const list = values.map((value) => `"${value}"`).join(', ');
  return schema({ enum: values }, `it must be one of ${list}`, (value) => values.includes(value as string));
}

export function array<T>(items: Schema<T>, maxItems?: number): Schema<T[]> {
  const list = schema<unknown[]>(
    { type: 'array', items: items.json, ...(maxItems && { maxItems }) },
    `it must be a list${maxItems ? ` of at most ${maxItems} items` : ''}`,
    (value) => Array.isArray(value) && value.length <= (maxItems ?? Infinity),
  );
  return {
    json: list.json,
    // `Array.from` does not skip holes.
    parse: (value, key) => Array.from(list.parse(value, key), (item, i) => items.parse(item, `${key}[${i}]`)),
  };
}

const anObject = schema<Record<string, unknown>>(
  {},
  'it must be an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

const within = (key: string, name: string) => (key ? `${key}.${name}` : name);

/** An object with any number of properties. */
export function record<T>(names: Schema<string>, values: Schema<T>): Schema<Record<string, T>> {
  return {
    json: { type: 'object', propertyNames: names.json, additionalProperties: values.json },
    parse: (value, key) =>
      Object.fromEntries(
        Object.entries(anObject.parse(value, key)).map(([name, item]) => {
          const at = within(key, name);
          return [names.parse(name, at), values.parse(item, at)];
        }),
      ),
  };
}

/** An object with these properties. Others are refused. */
export function strictObject<P extends Properties>(properties: P): Schema<ObjectOf<P>> {
  const { json, parse } = object(properties);
  return {
    json: { ...json, additionalProperties: false },
    parse(value, key) {
      for (const name of Object.keys(anObject.parse(value, key))) {
        if (!Object.hasOwn(properties, name)) throw new Mismatch(within(key, name), 'there is no such key');
      }
      return parse(value, key);
    },
  };
}

/** An object with these properties. Others are dropped. */
export function object<P extends Properties>(properties: P): Schema<ObjectOf<P>> {
  const entries = Object.entries<Schema<unknown> & Partial<Optional<unknown>>>(properties);
  const required = entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    json: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, { json }]) => [name, json])),
      ...(required.length > 0 && { required }),
    },
    parse(value, key) {
      const given = anObject.parse(value, key);
      const present = entries.filter(([name, { isOptional }]) => !isOptional || given[name] !== undefined);
      return Object.fromEntries(
        present.map(([name, property]) => [name, property.parse(given[name], within(key, name))]),
      ) as ObjectOf<P>;
    },
  };
}

export function optional<T>(schema: Schema<T>): Optional<T> {
  return { ...schema, isOptional: true };
}

export function nullable<T>({ json, parse }: Schema<T>): Schema<T | null> {
  return {
    json: { anyOf: [{ type: 'null' }, json] },
    parse: (value, key) => (value === null ? null : parse(value, key)),
  };
}

/** @param expectation what is wrong with a value that is not valid. */
export function check<T>(schema: Schema<T>, isValid: (value: T) => boolean, expectation: string): Schema<T> {
  return transform(schema, (value, key) => {
    if (isValid(value)) return value;
    throw new Mismatch(key, expectation);
  });
}

/** @param change may throw a `Mismatch`, or an error with a code of its own. */
export function transform<T, U>({ json, parse }: Schema<T>, change: (value: T, key: string) => U): Schema<U> {
  return { json, parse: (value, key) => change(parse(value, key), key) };
}
