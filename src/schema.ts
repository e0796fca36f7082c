import * as v from 'valibot';
import { AntwayError, type ErrorCode } from './errors.ts';

/** Validates values from other programs and from storage. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/**
 * Parses a value. It stops at the first wrong part.
 * @param place names the value in the error message, such as `antway.json`.
 * @param key the path of the value, such as `peers[0]`. Empty for the whole.
 * @throws AntwayError with this code. `details.key` is the path of the wrong part.
 */
export function parse<T>(schema: Schema<T>, value: unknown, code: ErrorCode, place = '', key = ''): T {
  const result = v.safeParse(schema, value, { abortEarly: true, message: defaultMessage });
  if (result.success) return result.output;
  const [{ input, message, path = [] }] = result.issues;
  const step = (at: string, { key }: v.IssuePathItem) =>
    typeof key === 'number' ? `${at}[${key}]` : `${at && `${at}.`}${key}`;
  const at = path.reduce(step, key) || 'the whole';
  const expectation = input === undefined ? 'it is missing' : message;
  throw new AntwayError(code, `${place && `${place}, `}${at}: ${expectation}.`, { key: at });
}

/** Describes what is wrong, for a schema without a message of its own. */
function defaultMessage({ type, expected, message }: v.BaseIssue<unknown>): string {
  if (type === 'string') return 'it must be text';
  if (type === 'boolean') return 'it must be true or false';
  if (type === 'array') return 'it must be a list';
  if (type === 'picklist') return `it must be one of ${expected?.slice(1, -1).replaceAll(' | ', ', ')}`;
  return expected === 'never' ? 'there is no such key' : message;
}

/** Text that matches a pattern. The pattern has no flags, because JSON Schema has none. */
export function pattern(regex: RegExp, expectation: string) {
  return v.pipe(v.string(expectation), v.regex(regex, expectation));
}

/** A number from 0 to `maximum`. */
export function number(maximum: number) {
  const expectation = `it must be a number from 0 to ${maximum}`;
  return v.pipe(v.number(expectation), v.minValue(0, expectation), v.maxValue(maximum, expectation));
}

/** A whole number of `unit`, 0 or more. */
export function integer(unit: string) {
  const expectation = `it must be a whole number of ${unit}`;
  return v.pipe(v.number(expectation), v.safeInteger(expectation), v.minValue(0, expectation));
}

/** A list of at most `maximum` items. Its length is checked before its items. */
export function list<T>(items: Schema<T>, maximum: number) {
  const isShort = (value: unknown) => Array.isArray(value) && value.length <= maximum;
  return v.pipe(
    v.custom<unknown[]>(isShort, `it must be a list of at most ${maximum} items`),
    v.array(items),
  );
}

/** Valibot itself also takes lists for objects. */
const plainObject = v.custom<object>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'it must be an object',
);

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };
type ObjectOf<P extends v.ObjectEntries> = Defined<v.InferOutput<v.ObjectSchema<P, undefined>>>;

function withoutUndefined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** An object with these properties. Others are dropped, and optional properties that are undefined. */
export function object<P extends v.ObjectEntries>(properties: P): Schema<ObjectOf<P>> {
  return v.pipe(plainObject, v.object(properties), v.transform(withoutUndefined));
}

/** As `object`, but other properties are refused. */
export function strictObject<P extends v.ObjectEntries>(properties: P): Schema<ObjectOf<P>> {
  return v.pipe(plainObject, v.strictObject(properties), v.transform(withoutUndefined));
}

/** An object with any number of properties. `v.record` would ignore properties such as `constructor`. */
export function record<T>(names: Schema<string>, values: Schema<T>) {
  return v.pipe(
    plainObject,
    v.transform((object) => new Map<unknown, unknown>(Object.entries(object))),
    v.map(names, values),
    v.transform((map): Record<string, T> => Object.fromEntries(map)),
  );
}
