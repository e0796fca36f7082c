import { blake3 } from '@noble/hashes/blake3.js';
import { del, get, set, type UseStore } from 'idb-keyval';
import { Address } from '../../address.ts';
import { parseSettings, type Settings } from '../../config.ts';
import { AntwayError } from '../../errors.ts';
import { isLanguage } from '../../languages.ts';
import { isTheme } from '../../themes.ts';
import type { Appearance } from './appearance.ts';

/**
 * What a site's own origin is told of the user's settings: no more than it needs, because scripts of the site can read
 * it there.
 */
export interface SiteSettings {
  /** The user's peers, transport and limits. Names and denied addresses are not among them. */
  settings: Settings;
  /**
   * For each address that the user denies, the hash of it with the site's own address (`deniedHash`). The site's worker can
   * check an address, and nobody can list them.
   */
  deniedHashes: string[];
  /** Whether the site may run scripts. False where the user chose to open it without. */
  runsScripts: boolean;
  appearance: Appearance;
}

/** BLAKE3 of the site's address and the denied one, hex. */
export function deniedHash(site: Address, denied: Address): string {
  const bytes = new Uint8Array(64);
  bytes.set(site.bytes);
  bytes.set(denied.bytes, 32);
  return Address.fromBytes(blake3(bytes)).hex;
}

/** Denied addresses (hex), some of them known by their hashes only. */
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

/** On a site's own origin: what that was told. Where storage is blocked, it is known as long as the worker lives. */
export class ReceivedSettings {
  readonly #origin: string;
  readonly #state: UseStore;
  #known: Promise<SiteSettings | null> | undefined;

  constructor(origin: string, state: UseStore) {
    this.#origin = origin;
    this.#state = state;
  }

  /** @returns null before anything was received. */
  get(): Promise<SiteSettings | null> {
    this.#known ??= get<SiteSettings>(key, this.#state).then(
      (received) => received ?? null,
      () => null,
    );
    return this.#known;
  }

  /**
   * Takes settings in place of earlier ones.
   * @param value null when the gateway's own origin could not be asked: then what was received before stays in force, or
   *   else the defaults hold until the worker ends.
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
    const received = parseSiteSettings(value, this.#origin);
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

function parseSiteSettings(value: unknown, origin: string): SiteSettings {
  const { settings, deniedHashes, runsScripts, appearance } = (value ?? {}) as Partial<SiteSettings>;
  const { language = null, theme = null } = appearance ?? {};
  const isValid =
    Array.isArray(deniedHashes) &&
    deniedHashes.every((hash) => Address.isHex(hash)) &&
    typeof runsScripts === 'boolean' &&
    (language === null || isLanguage(language)) &&
    (theme === null || isTheme(theme));
  if (!isValid) throw new AntwayError('BAD_CONFIG', 'These are not settings for a site.');
  return {
    settings: parseSettings(settings, origin),
    deniedHashes,
    runsScripts,
    appearance: { language, theme },
  };
}
