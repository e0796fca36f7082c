/** A number whose digits do not fit a JavaScript number, with its text in the file. */
export class ExactNumber {
  constructor(readonly text: string) {}
}

export type JsonContainer = JsonValue[] | { [key: string]: JsonValue };
export type JsonValue = string | number | boolean | null | ExactNumber | JsonContainer;

/**
 * Parses JSON. Large numbers keep their digits if the browser tells the text of numbers.
 * @throws SyntaxError for text that is not JSON.
 */
export function parseJson(text: string): JsonValue {
  const json = text.replace(/^\ufeff/, '');
  if (/\d{16}|\d[eE]/.test(json)) {
    try {
      return JSON.parse(json, exact as Parameters<typeof JSON.parse>[1]) as JsonValue;
    } catch (error) {
      // A reviver visits values recursively, and deep values exhaust the stack.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return JSON.parse(json) as JsonValue;
}

function exact(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return Number.isFinite(value) && isSameNumber(value, context.source)
    ? value
    : new ExactNumber(context.source);
}

/** Whether the number has the same digits as its source. A source with an exponent or zeros at its end is the same. */
export function isSameNumber(value: number, source: string): boolean {
  if (String(value) === source) return true;
  const digits = (text: string) => withoutZeros(text.replace(/[eE].*$/, '').replace(/[-.]/g, ''));
  return digits(String(value)) === digits(source);
}

/** Removes the zeros at both ends. A regular expression would take quadratic time for zeros in the middle. */
function withoutZeros(digits: string): string {
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return digits.slice(start, end);
}

export function isContainer(value: JsonValue): value is JsonContainer {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** The entries from `start` to `end`. Own keys only: a file may contain keys such as `__proto__`. */
export function entriesOf(
  container: JsonContainer,
  start: number,
  end: number,
): [string | number, JsonValue][] {
  if (Array.isArray(container)) {
    return container.slice(start, end).map((value, i) => [start + i, value]);
  }
  return Object.keys(container)
    .slice(start, end)
    .map((key) => [key, Object.getOwnPropertyDescriptor(container, key)!.value as JsonValue]);
}

export function countOf(container: JsonContainer): number {
  return Array.isArray(container) ? container.length : Object.keys(container).length;
}

/** Returns the containers from the top down, at most `most`, whose children fit together on a screen. */
export function firstContainers(root: JsonValue, most: number, perContainer: number): Set<JsonContainer> {
  const found = new Set<JsonContainer>();
  let level: JsonValue[] = [root];
  while (level.length > 0 && found.size < most) {
    const next: JsonValue[] = [];
    for (const value of level) {
      if (!isContainer(value) || found.size === most) continue;
      found.add(value);
      for (const [, child] of entriesOf(value, 0, perContainer)) if (isContainer(child)) next.push(child);
    }
    level = next;
  }
  return found;
}
