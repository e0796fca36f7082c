import { del, get, set, type UseStore } from 'idb-keyval';
import { parseSettings } from '../../config.ts';
import type { Settings } from '../../server-config.ts';

const key = 'settings';

export class UserSettings {
  readonly #state: UseStore;

  constructor(state: UseStore) {
    this.#state = state;
  }

  /** Empty if storage is blocked. @throws AntwayError `BAD_CONFIG` for earlier settings that this version refuses. */
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
