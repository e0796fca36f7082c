import { get, set } from 'idb-keyval';
import { type Config, parseConfig } from '../config.ts';
import { AntwayError } from '../errors.ts';
import { settings } from './settings.ts';

const path = '/antway.json';
const key = 'host-config';
const timeoutMs = 5_000;

/** Without a configuration the host itself is taken for a peer, as when `antway-peer` hosts the gateway. */
const defaultConfig = { peers: ['/'] };

/**
 * The host's `antway.json`: the last known one at once, so that the gateway works offline and starts fast, and
 * the current one as soon as the host gives it.
 */
export class HostConfig {
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The one that was in force when the gateway last ran; undefined when it never did, or cannot be read. */
  async stored(): Promise<Config | undefined> {
    try {
      const value = await get<unknown>(key, settings);
      return value === undefined ? undefined : parseConfig(value, this.#origin);
    } catch (error) {
      console.warn('antway: the kept configuration cannot be used', error);
      return undefined;
    }
  }

  /**
   * Asks the host.
   * @returns undefined when the host cannot be reached: what is known stays in force.
   * @throws AntwayError `BAD_CONFIG` naming the key that is wrong.
   */
  async fetch(): Promise<Config | undefined> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(path, { cache: 'no-cache', signal: AbortSignal.timeout(timeoutMs) });
      text = await response.text();
    } catch {
      return undefined; // offline, or the host is down or too slow
    }
    if (response.status >= 500) return undefined;
    // A host that answers every unknown path with its start page has no configuration either.
    const isPage = response.headers.get('Content-Type')?.startsWith('text/html');
    const value = response.ok && !isPage ? parseJson(text) : defaultConfig;
    const config = parseConfig(value, this.#origin);
    await set(key, value, settings).catch((error) => console.warn('antway: configuration not kept', error));
    return config;
  }

  /** For a gateway that has never reached its host. */
  default(): Config {
    return parseConfig(defaultConfig, this.#origin);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AntwayError('BAD_CONFIG', 'antway.json is not valid JSON.', {}, { cause });
  }
}
