import { del, get, set, type UseStore } from 'idb-keyval';
import { parseServerConfig } from '../../config.ts';
import { AntwayError } from '../../errors.ts';
import type { ServerConfig } from '../../server-config.ts';
import { fetchFromHost } from './fetch-from-host.ts';

const defaultPath = '/antway.json';
const defaultKey = 'host-config';
const timeoutMs = 5_000;

export interface ServerConfigSource {
  /** Null if the host has no file. Undefined if the host never responded, or if the stored config cannot be read. */
  stored(): Promise<ServerConfig | null | undefined>;
  /**
   * Fetches the server config from the host.
   * @returns null if the host has no file; undefined if it is unreachable, and the known config stays in effect.
   * @throws AntwayError `BAD_CONFIG` with the name of the wrong key. With `details.isUnanswered`, the host returned
   *   neither a file nor a clear “not found”, and the known config stays in effect.
   */
  fetch(): Promise<ServerConfig | null | undefined>;
  /** Deletes the last known file, so that the host may have none from now on. */
  forget?(): Promise<void>;
}

/**
 * The host's `antway.json`. Returns the last known file at once, so that the gateway works offline and starts fast.
 * Uses the current file as soon as the host returns it. The file says how sites are isolated and which addresses are
 * denied. Therefore no failure may count as “no file”. A host that once had a file cannot remove it unnoticed.
 */
export class ServerConfigFile implements ServerConfigSource {
  readonly #state: UseStore;
  readonly #path: string;
  readonly #key: string;
  /** Whether this worker has seen a file. Needed if storage is blocked. */
  #hasSeenFile = false;

  /** @param path on the host. Several sites can share an origin, so each path has its own stored config. */
  constructor(state: UseStore, path = defaultPath) {
    this.#state = state;
    this.#path = path;
    this.#key = path === defaultPath ? defaultKey : `${defaultKey} ${path}`;
  }

  async stored(): Promise<ServerConfig | null | undefined> {
    try {
      const value = await get<unknown>(this.#key, this.#state);
      return value === undefined || value === null ? value : parseServerConfig(value);
    } catch (error) {
      console.warn('antway: the stored configuration is invalid', error);
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
    // A host that returns its start page for every unknown path has no server config either.
    const isPage = ok && response.headers.get('Content-Type')?.startsWith('text/html');
    if (isPage && redirected) throw unanswered('the host redirects it to a page');
    if (isPage || status === 404 || status === 410) {
      if (await this.#hasHadFile()) {
        throw unanswered(
          'the host has none any more. To go on without it, reset the gateway in its settings',
        );
      }
      return this.#store(null);
    }
    if (!ok) throw unanswered(`the host answered ${status}`);
    const file = parseServerConfig(parseJson(text));
    this.#hasSeenFile = true;
    return this.#store(file);
  }

  async forget(): Promise<void> {
    this.#hasSeenFile = false;
    await del(this.#key, this.#state);
  }

  async #store<File extends ServerConfig | null>(file: File): Promise<File> {
    await set(this.#key, file, this.#state).catch((error) =>
      console.warn('antway: the configuration is not stored', error),
    );
    return file;
  }

  /** Whether the host ever had a file, including a file of another version that is invalid here. */
  async #hasHadFile(): Promise<boolean> {
    return this.#hasSeenFile || !!(await get<unknown>(this.#key, this.#state).catch(() => undefined));
  }
}

function unanswered(why: string): AntwayError {
  return new AntwayError('BAD_CONFIG', `antway.json: ${why}. The last known file stays in effect.`, {
    isUnanswered: true,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The engine's message names the place, such as "line 3 column 5".
    const message = `antway.json is not valid JSON: ${(cause as SyntaxError).message}.`;
    throw new AntwayError('BAD_CONFIG', message, {}, { cause });
  }
}
