import { matchesGlob } from './glob.ts';

/** Names of the file in an archive's root that holds its routes: what AntTP's code reads, and what its docs say. */
export const routeMapNames = ['app-conf.json', 'app-config.json'] as const;

/** Routes of an archive (`{"routeMap": {"": "index.html", "blog/*": "index.html"}}`). */
export class RouteMap {
  /** Patterns and their targets, the most specific first. */
  readonly #routes: readonly (readonly [pattern: string, target: string])[];

  private constructor(routes: readonly (readonly [string, string])[]) {
    this.#routes = routes;
  }

  static readonly empty = new RouteMap([]);

  /** @returns undefined when the text is not JSON of that form. */
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
    // AntTP tries them in no fixed order. So that a page does not change from visit to visit, the pattern with
    // most literal characters wins here.
    const literals = (pattern: string) => pattern.replace(/[*?]/g, '').length;
    return new RouteMap(list.toSorted(([a], [b]) => literals(b) - literals(a) || (a < b ? -1 : 1)));
  }

  /**
   * Where a path leads. As in AntTP a route wins over a file of that name.
   * @param path in the archive, without a leading slash; `''` is the root document.
   * @returns undefined when no route matches.
   */
  resolve(path: string): string | undefined {
    const route =
      this.#routes.find(([pattern]) => pattern === path) ??
      this.#routes.find(([pattern]) => matchesGlob(pattern, path));
    return route?.[1].replace(/^\/+/, '');
  }
}
