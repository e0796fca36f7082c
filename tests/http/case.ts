import { createHash } from 'node:crypto';
import type { Fixtures } from './fixtures.ts';

/** The request. Paths and header values may hold `{site}` and the like for addresses, `{etag}` for the ETag of
 * the path itself, and `{etag /…}` for that of another. */
export interface CaseRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Text, with the same placeholders. */
  body?: string;
  /** `document`: a user goes there, by a link or the address bar. `fetch`: a script asks. */
  as: 'fetch' | 'document';
  /** Whether the user follows a link on a page of the same origin. */
  isLink?: boolean;
}

/** Text of a header, a pattern for it, one that it must not be, or null for a header that must not be there. */
export type ExpectedHeader = string | RegExp | { not: string } | null;

export interface Expected {
  status: number;
  headers?: Record<string, ExpectedHeader>;
  /** Bytes, or patterns that its text has. */
  body?: string | Uint8Array | RegExp[];
}

export interface Case {
  group: string;
  name: string;
  request: CaseRequest;
  expected: Expected;
  /** About Antway's own URLs, codes or policies: not asked of other gateways. */
  isOwn: boolean;
}

/** The response. Header names are in lower case. */
export interface Received {
  status: number;
  headers: Record<string, string>;
  size: number;
  sha256: string;
  /** The body, where it is short. */
  text: string;
}

/** `{word}`, or `{etag /{word}/path}`. */
const placeholders = /\{(\w+)(?: ((?:\{\w+\}|[^{}])+))?\}/g;

/** Replaces `{site}` by an address (`{SITE}` by one in capitals) and `{etag …}` by what `etagOf` gave. */
export function fillIn(text: string, fixtures: Fixtures, etags: ReadonlyMap<string, string>): string {
  return text.replace(placeholders, (placeholder, word: string, path?: string) => {
    if (word === 'etag') return etags.get(path ?? '') ?? placeholder;
    const address = fixtures[word.toLowerCase() as keyof Fixtures];
    if (address === undefined) return placeholder;
    return word === word.toUpperCase() ? address.toUpperCase() : address;
  });
}

/** The paths whose ETags a case speaks of. */
export function etagPaths({ request, expected }: Case): string[] {
  const texts = [...Object.values(request.headers), ...Object.values(expected.headers ?? {}).map(textOf)];
  return texts.flatMap((text) =>
    Array.from(text.matchAll(placeholders))
      .filter(([, word]) => word === 'etag')
      .map(([, , path]) => path ?? ''),
  );
}

function textOf(header: ExpectedHeader): string {
  if (typeof header === 'string') return header;
  return header !== null && 'not' in header ? header.not : '';
}

/** Differences from the expected response, in words. */
export function differences(
  expected: Expected,
  received: Received,
  fill: (text: string) => string,
): string[] {
  const found: string[] = [];
  if (received.status !== expected.status) found.push(`status ${received.status}`);
  for (const [name, wanted] of Object.entries(expected.headers ?? {})) {
    const value = received.headers[name.toLowerCase()] ?? null;
    if (!headerFits(wanted, value, fill)) found.push(value === null ? `no ${name}` : `${name}: ${value}`);
  }
  const { body } = expected;
  if (Array.isArray(body)) {
    const missing = body.filter((pattern) => !pattern.test(received.text));
    if (missing.length > 0) found.push(`nothing like ${missing.join(', ')} in the body`);
  } else if (body !== undefined) {
    const bytes = Buffer.from(body);
    if (received.size !== bytes.length) found.push(`${received.size} bytes`);
    else if (received.sha256 !== createHash('sha256').update(bytes).digest('hex')) found.push('other bytes');
  }
  return found;
}

function headerFits(wanted: ExpectedHeader, value: string | null, fill: (text: string) => string): boolean {
  if (wanted === null || value === null) return wanted === value;
  if (typeof wanted === 'string') return value === fill(wanted);
  return wanted instanceof RegExp ? wanted.test(value) : value !== fill(wanted.not);
}

/** The request in words. */
export function describeRequest({ method, path, headers, body, as, isLink }: CaseRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `\`${name}: ${value}\``);
  if (body !== undefined) lines.push(`body \`${body}\``);
  const start =
    as === 'document'
      ? `${isLink ? 'follow a link of the gateway to' : 'open'} \`${path}\``
      : `\`${method} ${path}\``;
  return [start, ...lines].join(', ');
}

/** The expected response, in words. */
export function describeExpected({ status, headers = {}, body }: Expected): string {
  const parts = [String(status)];
  for (const [name, wanted] of Object.entries(headers)) {
    if (wanted === null) parts.push(`no \`${name}\``);
    else if (typeof wanted === 'string') parts.push(`\`${name}: ${wanted}\``);
    else if (wanted instanceof RegExp) parts.push(`\`${name}\` like \`${wanted.source}\``);
    else parts.push(`\`${name}\` other than \`${wanted.not}\``);
  }
  if (Array.isArray(body)) parts.push(`body has ${body.map(({ source }) => `\`${source}\``).join(', ')}`);
  else if (body?.length === 0) parts.push('no body');
  else if (typeof body === 'string' && body.length <= 30) parts.push(`body \`${body}\``);
  else if (body !== undefined) parts.push(`body of ${Buffer.from(body).length} bytes`);
  return parts.join(', ');
}
