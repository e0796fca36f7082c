/** Preconditions of a request (RFC 9110, section 13). Every ETag here is strong. */

/** Whether an `If-None-Match` header matches: it is `*`, or a list that contains `etag`, weak or strong. */
export function noneMatchFails(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === '*') return true;
  return listed(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

/** Whether an `If-Match` header matches: it is absent or `*`, or a list that contains exactly `etag`. */
export function matchHolds(header: string | null, etag: string): boolean {
  if (header === null || header.trim() === '*') return true;
  return listed(header).includes(etag);
}

/** Whether the `Range` header applies: there is no `If-Range`, or it is exactly `etag`. Dates never match. */
export function ifRangeHolds(header: string | null, etag: string): boolean {
  return header === null || header.trim() === etag;
}

function listed(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
