import type { ServerConfig } from '../config.ts';
import { DropInError } from './error.ts';

/** What a site can set, as attributes of the script's element or as options of `createAntway`. */
export interface DropInOptions {
  /** The worker's script; `none` when the site's own worker has Antway's handler. `antway-sw.js` beside the script. */
  worker?: string;
  /** Path that the worker answers for. The folder of the worker's script; `/` with a worker of the site's own. */
  scope?: string;
  /** Path below the scope that content's URLs begin with. `ant/`. */
  prefix?: string;
  /** An HTTP gateway, `https://…/`, for browsers without service workers. */
  gateway?: string;
  /** What `antway.json` would hold; without it, that file is read from beside the worker's script. */
  config?: ServerConfig;
}

/** The same, resolved to URLs. The worker checks the configuration. */
export interface ResolvedOptions {
  worker: URL | undefined;
  scope: URL;
  /** With a slash at its end. */
  prefix: URL;
  /** With a slash at its end. */
  gateway: string | undefined;
  config: ServerConfig | undefined;
}

const own = ['worker', 'scope', 'prefix', 'gateway'] as const;

const words = (text: string) => text.match(/\S+/g) ?? [];
const number = (text: string) => (/^\s*\d+\s*$/.test(text) ? Number(text) : text);

/** How each key of the configuration is read from its attribute. The worker's check names what is not valid. */
const keys: Record<string, (text: string) => unknown> = {
  peers: words,
  trusted: words,
  denied: words,
  names: (text) => Object.fromEntries(words(text).map((word) => /([^=]*)=?(.*)/.exec(word)!.slice(1))),
  isolation: String,
  transport: String,
  usePeersOfPeers: (text) => (text === '' || text === 'true' ? true : text === 'false' ? false : text),
  cacheMaxBytes: number,
  cacheMemoryBytes: number,
};

/**
 * Reads the attributes of the script's element: the keys of `antway.json`, lists separated by spaces, names as
 * `name=address`; and `worker`, `scope`, `prefix`, `gateway`. Others are left alone, with a warning in the console:
 * tools that load scripts add their own.
 *
 * @throws DropInError `BAD_CONFIG` naming the attribute, for one that seems to be misspelt.
 */
export function readAttributes(dataset: DOMStringMap): DropInOptions {
  const options: DropInOptions = {};
  const config: ServerConfig = {};
  const others: string[] = [];
  for (const [key, text = ''] of Object.entries(dataset)) {
    const option = own.find((name) => name === key);
    if (option) options[option] = text;
    else if (Object.hasOwn(keys, key)) set(config, key, keys[key]!(text));
    else {
      const meant = [...own, ...Object.keys(keys)].find((name) =>
        isNear(key.toLowerCase(), name.toLowerCase()),
      );
      if (meant) throw bad(attributeOf(key), `there is no such attribute, but ${attributeOf(meant)}`);
      others.push(attributeOf(key));
    }
  }
  if (others[0]) console.warn(`Antway ignores ${others.join(', ')}.`);
  return Object.keys(config).length > 0 ? { ...options, config } : options;
}

/** Whether a text becomes the other by one change of a letter, or in a long one by two. */
function isNear(text: string, other: string, changes = other.length < 6 ? 1 : 2): boolean {
  if (changes < 0 || !text || !other) return Math.max(text.length, other.length) <= changes;
  const [rest, otherRest] = [text.slice(1), other.slice(1)];
  if (text[0] === other[0]) return isNear(rest, otherRest, changes);
  const isNearBy = (a: string, b: string) => isNear(a, b, changes - 1);
  return isNearBy(rest, otherRest) || isNearBy(rest, other) || isNearBy(text, otherRest);
}

/**
 * Fills in what was not given.
 * @param base URL that relative ones are resolved against.
 * @throws DropInError `BAD_CONFIG` naming the option.
 */
export function resolveOptions(options: DropInOptions, base: string): ResolvedOptions {
  const worker =
    options.worker === 'none' ? undefined : url('worker', options.worker ?? 'antway-sw.js', base);
  if (worker && worker.origin !== location.origin) {
    throw bad('worker', `${worker.href} is not on the page's own origin`);
  }
  const scope = url('scope', options.scope ?? (worker ? './' : '/'), worker?.href ?? location.href);
  const prefix = url('prefix', options.prefix ?? 'ant/', scope.href);
  if (!prefix.href.startsWith(scope.href) || !/.\/$/.test(prefix.href.slice(scope.href.length))) {
    throw bad('prefix', `it must be a path below ${scope.pathname} that ends with a slash`);
  }
  const gateway = options.gateway && url('gateway', options.gateway, location.href).href.replace(/\/*$/, '/');
  return { worker, scope, prefix, gateway, config: options.config };
}

function url(key: string, text: string, base: string): URL {
  if (!URL.canParse(text, base)) throw bad(key, `“${text}” is not a URL`);
  return new URL(text, base);
}

function set(config: ServerConfig, key: string, value: unknown): void {
  const [, first, rest] = /^cache(.)(.+)/.exec(key) ?? [];
  if (first) config.cache = { ...config.cache, [first.toLowerCase() + rest]: value };
  else Object.assign(config, { [key]: value });
}

function attributeOf(key: string): string {
  return `data-${key.replace(/[A-Z]/g, '-$&').toLowerCase()}`;
}

function bad(key: string, why: string): DropInError {
  return new DropInError('BAD_CONFIG', `Antway, ${key}: ${why}.`, key);
}
