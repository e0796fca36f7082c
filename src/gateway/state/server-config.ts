import { del, get, set, type UseStore } from 'idb-keyval';
import { parseServerConfig, type ServerConfig } from '../../config.ts';
import { AntwayError } from '../../errors.ts';
import { fetchFromHost } from './fetch-from-host.ts';

const defaultPath = '/antway.json';
const defaultKey = 'host-config';
const timeoutMs = 5_000;

/** Where the host's part of the configuration comes from. */
export interface ServerConfigSource {
  /** What the host gave last: null when it has no file, undefined when it never answered, or it cannot be read. */
  stored(): Promise<ServerConfig | null | undefined>;
  /**
   * Asks the host.
   * @returns null when it has no file; undefined when it cannot be reached: what is known stays in force.
   * @throws AntwayError `BAD_CONFIG` naming the key that is wrong; with `details.isUnanswered` when the host gave neither
   *   a file nor the answer that there is none: then, too, what is known stays in force.
   */
  fetch(): Promise<ServerConfig | null | undefined>;
  /** Forgets the last file, so that the host can go on without one. */
  forget?(): Promise<void>;
}

/**
 * The host's `antway.json`: the last known one at once, so that the gateway works offline and starts fast, and
 * the current one as soon as the host gives it.
 *
 * The file says how sites are kept apart and which addresses are denied, so no failure may count as “no file”, and a host
 * that has given a file cannot take it back unnoticed.
 */
export class ServerConfigFile implements ServerConfigSource {
  readonly #origin: string;
  readonly #state: UseStore;
  readonly #path: string;
  readonly #key: string;
  /** Whether this worker has seen a file, for where storage is blocked. */
  #hasSeenFile = false;

  /** @param path of the file on the host. What is known of each is kept apart: sites can share an origin. */
  constructor(origin: string, state: UseStore, path = defaultPath) {
    this.#origin = origin;
    this.#state = state;
    this.#path = path;
    this.#key = path === defaultPath ? defaultKey : `${defaultKey} ${path}`;
  }

  async stored(): Promise<ServerConfig | null | undefined> {
    try {
      const value = await get<unknown>(this.#key, this.#state);
      return value === undefined || value === null ? value : parseServerConfig(value, this.#origin);
    } catch (error) {
      console.warn('antway: the kept configuration cannot be used', error);
      return undefined;
    }
  }

  async fetch(): Promise<ServerConfig | null | undefined> {
    let response: Response | undefined;
    let text: string;
    try {
      response = await fetchFromHost(this.#path, {
        cache: 'no-cache',
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response) throw unanswered('the host redirects it elsewhere');
      text = await response.text();
    } catch (error) {
      if (error instanceof AntwayError) throw error;
      return undefined; // offline, or the host is down or too slow
    }
    const { status, ok, redirected } = response;
    // A host that answers every unknown path with its start page has no configuration either.
    const isPage = ok && response.headers.get('Content-Type')?.startsWith('text/html');
    if (isPage && redirected) throw unanswered('the host redirects it to a page');
    if (isPage || status === 404 || status === 410) {
      if (await this.#hasGivenFile()) {
        throw unanswered(
          'the host has none any more. To go on without it, reset the gateway in its settings',
        );
      }
      return this.#keep(null);
    }
    if (!ok) throw unanswered(`the host answered ${status}`);
    const file = parseServerConfig(parseJson(text), this.#origin);
    this.#hasSeenFile = true;
    return this.#keep(file);
  }

  async forget(): Promise<void> {
    this.#hasSeenFile = false;
    await del(this.#key, this.#state);
  }

  async #keep<File extends ServerConfig | null>(file: File): Promise<File> {
    await set(this.#key, file, this.#state).catch((error) =>
      console.warn('antway: configuration not kept', error),
    );
    return file;
  }

  /** Also when another version gave one that cannot be used here. */
  async #hasGivenFile(): Promise<boolean> {
    return this.#hasSeenFile || !!(await get<unknown>(this.#key, this.#state).catch(() => undefined));
  }
}

function unanswered(why: string): AntwayError {
  return new AntwayError('BAD_CONFIG', `antway.json: ${why}. What is known of it stays in force.`, {
    isUnanswered: true,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AntwayError('BAD_CONFIG', 'antway.json is not valid JSON.', {}, { cause });
  }
}
