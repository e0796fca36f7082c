import { limits } from '../limits.ts';
import { Glob } from './glob.ts';

/** Names of the file in an archive's root that holds its routes: what AntTP's code reads, and what its docs say. */
export const routeMapNames = ['app-conf.json', 'app-config.json'] as const;

interface Route {
  pattern: string;
  /** Undefined for a pattern that is no glob: it matches only the path that is spelt like it. */
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

  /** @returns undefined when the text is not JSON of that form, or its patterns are longer than any site's. */
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
    // Every request of the site tries them, so they bound the time that a hostile archive can take.
    const length = list.reduce((sum, [pattern]) => sum + pattern.length, 0);
    if (length > limits.routePatternCharacters) return undefined;
    // AntTP tries them in no fixed order. So that a page does not change from visit to visit, the pattern with
    // most literal characters wins here.
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
   * Where a path leads. As in AntTP a route wins over a file of that name.
   * @param path in the archive, without a leading slash; `''` is the root document.
   * @returns undefined when no route matches.
   */
  resolve(path: string): string | undefined {
    const exact = this.#routes.find(({ pattern }) => pattern === path);
    if (exact || path.length > limits.routedPathCharacters) return exact?.target;
    return this.#routes.find(({ glob }) => glob?.matches(path))?.target;
  }
}
