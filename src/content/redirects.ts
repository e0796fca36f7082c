import { limits } from '../limits.ts';

export const redirectsName = '_redirects';

/** A rule that matched. `path` is in the archive, without a leading slash; `suffix` is a query and a fragment. */
export interface RedirectMatch {
  status: 200 | 301 | 302 | 404;
  path: string;
  suffix: string;
}

interface Rule {
  /** Segments of the pattern; one that begins with `:` matches any segment. */
  segments: readonly string[];
  hasSplat: boolean;
  path: string;
  suffix: string;
  status: RedirectMatch['status'];
}

/** Content is read-only, so the redirects that differ for other methods are the same. */
const statuses = new Map<string, Rule['status']>([
  ['200', 200],
  ...['301', '308'].map((code) => [code, 301] as const),
  ...['302', '303', '307'].map((code) => [code, 302] as const),
  ...['404', '410', '451'].map((code) => [code, 404] as const),
]);

const placeholder = /:([A-Za-z]\w*)/g;
const dotSegment = /(^|\/)\.\.?(\/|$)/;

/** Rules of `_redirects`, as the specification of IPFS gateways has them. The first rule that matches counts. */
export class Redirects {
  readonly #rules: readonly Rule[];
  /** Whether some rules cannot be used. */
  readonly isPartial: boolean;

  private constructor(rules: readonly (Rule | undefined)[]) {
    this.#rules = rules.filter((rule) => rule !== undefined);
    this.isPartial = this.#rules.length < rules.length;
  }

  static readonly none = new Redirects([]);

  static parse(text: string): Redirects {
    const lines = text.split(/\r\n?|\n/).map((line) => line.replace(/(^|\s)#.*/s, '').trim());
    const rules = lines.filter((line) => line !== '');
    const used = rules.slice(0, limits.redirectRules).map(parseRule);
    return new Redirects(rules.length > used.length ? [...used, undefined] : used);
  }

  /** @param path in the archive, decoded, without a leading slash. */
  resolve(path: string): RedirectMatch | undefined {
    if (path.length > limits.routedPathCharacters) return undefined;
    const segments = segmentsOf(path);
    for (const rule of this.#rules) {
      const values = match(rule, segments);
      if (!values) continue;
      const to = rule.path.replace(placeholder, (whole, name) => values.get(name) ?? whole);
      const suffix = rule.suffix.replace(placeholder, (whole, name) =>
        encodeURIComponent(values.get(name) ?? whole),
      );
      // Security: values may complete a dot segment. A redirect to the same path would not end.
      if (dotSegment.test(to) || (to === path && suffix === '')) continue;
      return { status: rule.status, path: to, suffix };
    }
    return undefined;
  }
}

/** @returns undefined for a target outside of the address, another status, a condition, or an invalid pattern. */
function parseRule(line: string): Rule | undefined {
  const [from = '', to = '', code = '301', more] = line.split(/\s+/);
  const status = statuses.get(code.replace(/!$/, ''));
  // Security: two slashes, and a backslash after a slash, would name another host.
  const [, target, suffix = ''] = /^\/(?![/\\])([^?#]*)(.*)$/.exec(to) ?? [];
  const [pattern, path] = [decoded(from), decoded(`/${target}`)];
  if (!status || target === undefined || pattern === undefined || path === undefined || more)
    return undefined;
  const segments = segmentsOf(pattern);
  const hasSplat = segments.at(-1) === '*';
  if (hasSplat) segments.pop();
  const names = segments.filter((segment) => segment.startsWith(':'));
  const isValid = new Set(names).size === names.length && !segments.some((segment) => segment.includes('*'));
  // A header has ASCII only.
  return isValid
    ? { segments, hasSplat, path, suffix: encodeURI(suffix).replaceAll('%25', '%'), status }
    : undefined;
}

/** @returns the path without its first slash; undefined for an invalid path, and for one that leaves its address. */
function decoded(path: string): string | undefined {
  try {
    const text = decodeURIComponent(path);
    return text.startsWith('/') && !dotSegment.test(text) && !/[\p{Cc}\\]/u.test(text)
      ? text.slice(1)
      : undefined;
  } catch {
    return undefined;
  }
}

function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/');
}

/** Takes time in proportion to the path. @returns the values of the placeholders. */
function match({ segments, hasSplat }: Rule, path: readonly string[]): Map<string, string> | undefined {
  if (path.length < segments.length || (path.length > segments.length && !hasSplat)) return undefined;
  const values = new Map([['splat', path.slice(segments.length).join('/')]]);
  for (const [i, segment] of segments.entries()) {
    if (segment.startsWith(':')) values.set(segment.slice(1), path[i]!);
    else if (segment !== path[i]) return undefined;
  }
  return values;
}
