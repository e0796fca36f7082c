/** Preconditions of a request (RFC 9110, section 13). Every ETag here is strong. */

/** Whether an `If-None-Match` header matches: `*`, or a list with `etag` in it, weak or not. */
export function noneMatchFails(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === '*') return true;
  return listed(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

/** Whether an `If-Match` header is met: `*`, or a list with exactly `etag` in it. */
export function matchHolds(header: string | null, etag: string): boolean {
  if (header === null || header.trim() === '*') return true;
  return listed(header).includes(etag);
}

/** Whether a `Range` may be applied: there is no `If-Range`, or it is exactly `etag`. Dates never match. */
export function ifRangeHolds(header: string | null, etag: string): boolean {
  return header === null || header.trim() === etag;
}

function listed(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
