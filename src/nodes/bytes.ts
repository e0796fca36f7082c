/** Joins byte strings. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(lengthOf(parts));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** The length of all parts together, in bytes. */
export function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

const utf8 = new TextEncoder();

export function textBytes(text: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(text);
}
