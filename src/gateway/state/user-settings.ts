import { del, get, set, type UseStore } from 'idb-keyval';
import { parseSettings, type Settings } from '../../config.ts';

const key = 'settings';

/** What the user set in the shell, kept in this browser. */
export class UserSettings {
  readonly #origin: string;
  readonly #state: UseStore;

  constructor(origin: string, state: UseStore) {
    this.#origin = origin;
    this.#state = state;
  }

  /** Nothing where storage is blocked. @throws AntwayError `BAD_CONFIG` when an earlier version kept what this one refuses. */
  async read(): Promise<Settings> {
    const kept = await get<unknown>(key, this.#state).catch((error) => {
      console.warn('antway: the settings cannot be read', error);
      return undefined;
    });
    return kept === undefined ? {} : parseSettings(kept, this.#origin);
  }

  /** Takes the whole in place of what was set before. @throws AntwayError `BAD_CONFIG` naming the key. */
  async write(value: unknown): Promise<Settings> {
    const own = parseSettings(value, this.#origin);
    await set(key, own, this.#state);
    return own;
  }

  async clear(): Promise<void> {
    await del(key, this.#state);
  }
}
