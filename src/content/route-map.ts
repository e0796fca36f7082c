import { limits } from '../limits.ts';
import { Glob } from './glob.ts';

/** The name that AntTP's code reads, and the name in its documentation. */
export const routeMapNames = ['app-conf.json', 'app-config.json'] as const;

interface Route {
  pattern: string;
  /** Undefined for an invalid glob: it matches only the identical path. */
  glob: Glob | undefined;
  target: string;
}

/** Routes of an archive (`{"routeMap": {"": "index.html", "blog/*": "index.html"}}`). */
export class RouteMap {
  /** The most specific first. */
  readonly #routes: readonly Route[];

  private constructor(routes: readonly Route[]) {
    this.#routes = routes;
  }

  static readonly empty = new RouteMap([]);

  /** @returns undefined if the text is not JSON of that form, or its patterns are longer than the limit. */
  static parse(text: string): RouteMap | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    const routes = (value as { routeMap?: unknown } | null)?.routeMap ?? {};
    if (typeof routes !== 'object' || Array.isArray(routes)) return undefined;
    const list = Object.entries(routes);
    if (!list.every((route): route is [string, string] => typeof route[1] === 'string')) return undefined;
    // Security: every request tries all patterns, so their length bounds the time that a hostile archive can consume.
    const length = list.reduce((sum, [pattern]) => sum + pattern.length, 0);
    if (length > limits.routePatternCharacters) return undefined;
    // AntTP tries routes in no fixed order. Here the pattern with the most literal characters wins, so that every visit
    // has the same result.
    const literals = (pattern: string) => pattern.replace(/[*?]/g, '').length;
    const sorted = list.toSorted(([a], [b]) => literals(b) - literals(a) || (a < b ? -1 : 1));
    return new RouteMap(
      sorted.map(([pattern, target]) => ({
        pattern,
        glob: Glob.parse(pattern),
        target: target.replace(/^\/+/, ''),
      })),
    );
  }

  /**
   * Returns the target of a path, if a route matches. As in AntTP, a route wins over a file of the same name.
   * @param path in the archive, without a leading slash; `''` is the root document.
   */
  resolve(path: string): string | undefined {
    const exact = this.#routes.find(({ pattern }) => pattern === path);
    if (exact || path.length > limits.routedPathCharacters) return exact?.target;
    return this.#routes.find(({ glob }) => glob?.matches(path))?.target;
  }
}
