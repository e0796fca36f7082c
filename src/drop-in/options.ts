import type { ServerConfig } from '../server-config.ts';
import { page } from './dom.ts';
import { DropInError } from './error.ts';

/** Options of a site: attributes of the script's element, or options of `createAntway`. */
export interface DropInOptions {
  /**
   * The URL of the worker's script, relative to the page. `none` if the site's own worker has Antway's handler. Default:
   * `antway-sw.js` next to the script, or next to the page if the script is from another origin.
   */
  worker?: string;
  /** The path of the worker's scope. Default: the folder of the worker's script, or `/` with the site's own worker. */
  scope?: string;
  /** The path of content URLs, below the scope. Default: `ant/`. */
  prefix?: string;
  /** An HTTP gateway, `https://…/`, for browsers without service workers. */
  gateway?: string;
  /** The content of `antway.json`. Without this option, the worker reads the file next to its script. */
  config?: ServerConfig;
}

/** The options, resolved to URLs. The worker validates the configuration. */
export interface ResolvedOptions {
  worker: URL | undefined;
  scope: URL;
  /** Ends with a slash. */
  prefix: URL;
  /** Ends with a slash. */
  gateway: string | undefined;
  config: ServerConfig | undefined;
}

const own = ['worker', 'scope', 'prefix', 'gateway'] as const;

const words = (text: string) => text.match(/\S+/g) ?? [];
const number = (text: string) => (/^\s*\d+\s*$/.test(text) ? Number(text) : text);

/** Parsers of the attributes that set keys of the configuration. The worker validates the values. */
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
 * Reads the attributes of the script's element: `worker`, `scope`, `prefix`, `gateway`, and the keys of `antway.json`.
 * Lists are separated by spaces. Names are written as `name=address`. Unknown attributes cause only a warning in the
 * console, because tools that load scripts add their own attributes.
 * @throws DropInError `BAD_CONFIG` with the attribute's name, for an attribute that looks misspelt.
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

/** Whether one text becomes the other by one change of a letter, or by two changes in a text of 6 letters or more. */
function isNear(text: string, other: string, changes = other.length < 6 ? 1 : 2): boolean {
  if (changes < 0 || !text || !other) return Math.max(text.length, other.length) <= changes;
  const [rest, otherRest] = [text.slice(1), other.slice(1)];
  if (text[0] === other[0]) return isNear(rest, otherRest, changes);
  const isNearBy = (a: string, b: string) => isNear(a, b, changes - 1);
  return isNearBy(rest, otherRest) || isNearBy(rest, other) || isNearBy(text, otherRest);
}

/**
 * @param script the URL of the page's script: the worker's script is beside it unless the options name another.
 * @throws DropInError `BAD_CONFIG` with the option's name.
 */
export function resolveOptions(options: DropInOptions, script: string): ResolvedOptions {
  const { worker: named = 'antway-sw.js' } = options;
  // Browsers accept a worker only from the page's own origin, so it is never beside a script on a CDN.
  const isBeside = !options.worker && new URL(script).origin === location.origin;
  const worker = named === 'none' ? undefined : url('worker', named, isBeside ? script : page.baseURI);
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
