import { get, set } from 'idb-keyval';
import { type HostFile, parseHostFile } from '../config.ts';
import { AntwayError } from '../errors.ts';
import { settings } from './settings.ts';

const defaultPath = '/antway.json';
const defaultKey = 'host-config';
const timeoutMs = 5_000;

/** Where the host's part of the configuration comes from. */
export interface HostConfigSource {
  /** What the host gave last: null when it has no file, undefined when it never answered, or it cannot be read. */
  stored(): Promise<HostFile | null | undefined>;
  /**
   * Asks the host.
   * @returns null when it has no file; undefined when it cannot be reached: what is known stays in force.
   * @throws AntwayError `BAD_CONFIG` naming the key that is wrong.
   */
  fetch(): Promise<HostFile | null | undefined>;
}

/**
 * The host's `antway.json`: the last known one at once, so that the gateway works offline and starts fast, and
 * the current one as soon as the host gives it.
 */
export class HostConfig implements HostConfigSource {
  readonly #origin: string;
  readonly #path: string;
  readonly #key: string;

  /** @param path of the file on the host. What is known of each is kept apart: sites can share an origin. */
  constructor(origin: string, path = defaultPath) {
    this.#origin = origin;
    this.#path = path;
    this.#key = path === defaultPath ? defaultKey : `${defaultKey} ${path}`;
  }

  async stored(): Promise<HostFile | null | undefined> {
    try {
      const value = await get<unknown>(this.#key, settings);
      return value === undefined || value === null ? value : parseHostFile(value, this.#origin);
    } catch (error) {
      console.warn('antway: the kept configuration cannot be used', error);
      return undefined;
    }
  }

  async fetch(): Promise<HostFile | null | undefined> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#path, { cache: 'no-cache', signal: AbortSignal.timeout(timeoutMs) });
      text = await response.text();
    } catch {
      return undefined; // offline, or the host is down or too slow
    }
    if (response.status >= 500) return undefined;
    // A host that answers every unknown path with its start page has no configuration either.
    const isPage = response.headers.get('Content-Type')?.startsWith('text/html');
    const file = response.ok && !isPage ? parseHostFile(parseJson(text), this.#origin) : null;
    await set(this.#key, file, settings).catch((error) =>
      console.warn('antway: configuration not kept', error),
    );
    return file;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AntwayError('BAD_CONFIG', 'antway.json is not valid JSON.', {}, { cause });
  }
}
