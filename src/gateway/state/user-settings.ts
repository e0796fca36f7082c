import { del, get, set, type UseStore } from 'idb-keyval';
import { parseSettings, type Settings } from '../../config.ts';

const key = 'settings';

/** The user settings from the shell, stored in this browser. */
export class UserSettings {
  readonly #state: UseStore;

  constructor(state: UseStore) {
    this.#state = state;
  }

  /**
   * Returns empty settings if storage is blocked.
   * @throws AntwayError `BAD_CONFIG` if an earlier version stored settings that this version refuses.
   */
  async read(): Promise<Settings> {
    const stored = await get<unknown>(key, this.#state).catch((error) => {
      console.warn('antway: the settings cannot be read', error);
      return undefined;
    });
    return stored === undefined ? {} : parseSettings(stored);
  }

  /** Replaces all settings. @throws AntwayError `BAD_CONFIG` with the name of the wrong key. */
  async write(value: unknown): Promise<Settings> {
    const own = parseSettings(value);
    await set(key, own, this.#state);
    return own;
  }

  async clear(): Promise<void> {
    await del(key, this.#state);
  }
}
