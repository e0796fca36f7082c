import { blake3 } from '@noble/hashes/blake3.js';
import { del, get, set, type UseStore } from 'idb-keyval';
import * as v from 'valibot';
import { Address, hexAddress } from '../../address.ts';
import { settingsSchema } from '../../config.ts';
import * as s from '../../schema.ts';
import { appearanceSchema } from './appearance.ts';

const siteSettingsSchema = s.object({
  /** The user's peers, transport and limits, without names and denied addresses. */
  settings: settingsSchema,
  /** `deniedHash` of each address that the user denies. The hashes do not reveal the list. */
  deniedHashes: v.array(hexAddress),
  /** Whether the site may run scripts. False if the user chose to open it without scripts. */
  runsScripts: v.boolean(),
  appearance: appearanceSchema,
});

/** A site's scripts can read these settings, so they are as small as possible. */
export type SiteSettings = v.InferOutput<typeof siteSettingsSchema>;

/** Returns BLAKE3 of the site's address and the denied address, in hex. */
export function deniedHash(site: Address, denied: Address): string {
  const bytes = new Uint8Array(64);
  bytes.set(site.bytes);
  bytes.set(denied.bytes, 32);
  return Address.fromBytes(blake3(bytes)).hex;
}

/** Denied addresses (hex). Some of them are known only by their hashes. */
export class DenyList extends Set<string> {
  readonly #site: Address;
  readonly #hashes: ReadonlySet<string>;

  constructor(listed: Iterable<string>, site: Address, hashes: Iterable<string>) {
    super(listed);
    this.#site = site;
    this.#hashes = new Set(hashes);
  }

  override has(hex: string): boolean {
    return super.has(hex) || this.#hashes.has(deniedHash(this.#site, Address.fromHex(hex)));
  }
}

const key = 'site-settings';

/** On a site's own origin: the settings that it received. If storage is blocked, they last as long as the worker. */
export class ReceivedSettings {
  readonly #state: UseStore;
  #known: Promise<SiteSettings | null> | undefined;

  constructor(state: UseStore) {
    this.#state = state;
  }

  /** @returns null if nothing has been received yet. */
  get(): Promise<SiteSettings | null> {
    // Scripts of the site can write any value there.
    this.#known ??= get<unknown>(key, this.#state)
      .then(parseSiteSettings)
      .catch(() => null);
    return this.#known;
  }

  /**
   * @param value null if the gateway's own origin did not reply. In that case earlier settings stay in effect. If there
   *   are none, the defaults apply until the worker ends.
   * @throws AntwayError `BAD_CONFIG`.
   */
  async put(value: unknown): Promise<SiteSettings> {
    if (value === null) {
      const before = await this.get();
      if (before) return before;
      const defaults: SiteSettings = {
        settings: {},
        deniedHashes: [],
        runsScripts: true,
        appearance: { language: null, theme: null },
      };
      this.#known = Promise.resolve(defaults);
      return defaults;
    }
    const received = parseSiteSettings(value);
    this.#known = Promise.resolve(received);
    await set(key, received, this.#state).catch((error) =>
      console.warn('antway: the settings are not stored', error),
    );
    return received;
  }

  async clear(): Promise<void> {
    this.#known = undefined;
    await del(key, this.#state);
  }
}

/** @throws AntwayError `BAD_CONFIG`. */
function parseSiteSettings(value: unknown): SiteSettings {
  return s.parse(siteSettingsSchema, value, 'BAD_CONFIG', 'The settings of this site');
}
