import type { UseStore } from 'idb-keyval';
import { type Config, type ConfigSources, combine } from '../../config.ts';
import { type AntwayError, asAntwayError } from '../../errors.ts';
import type { ServerConfig, Settings } from '../../server-config.ts';
import { type Deployment, gatewayOrigin } from '../deployment.ts';
import type { ServerConfigSource } from './server-config-file.ts';
import { DenyList, ReceivedSettings, type SiteSettings } from './site-settings.ts';
import { UserSettings } from './user-settings.ts';

/** How old the server config may become before it is fetched again. */
const maxAgeMs = 60_000;
/** The same limit if there is no server config, or if it lacks a requested name. */
const maxAgeIfLackingMs = 2_000;

/** The configuration for requests. A new object means a new configuration. */
export interface EffectiveConfig {
  readonly config: Config;
  readonly sources: ConfigSources;
  /** On a site's own origin: the user settings that the site received. Null before it received any. */
  readonly received: SiteSettings | null;
}

/** Whether this is a site's own origin that has not received the user's settings yet. */
export function awaitsUserSettings({ trust }: Deployment, { received }: EffectiveConfig): boolean {
  return trust === 'site-settings' && !received;
}

/**
 * The effective config: the server config, combined with the user settings. The last known server config stays in
 * effect until the host returns a new one. All of this object's state can be lost with the worker at any time.
 */
export class Configuration {
  readonly #deployment: Deployment;
  readonly #source: ServerConfigSource;
  readonly #userSettings: UserSettings;
  /** Set only on a site's own origin. */
  readonly received: ReceivedSettings | undefined;
  /** undefined: not known yet. */
  #serverConfig: ServerConfig | null | undefined;
  /** Whether the gateway works without a server config because it has not reached the host yet. */
  #isProvisional = false;
  #serverProblem: AntwayError | undefined;
  #settingsProblem: AntwayError | undefined;
  #settings: Promise<Settings> | undefined;
  #quota: Promise<number | undefined> | undefined;
  #effective: (EffectiveConfig & { json: string }) | undefined;
  #combinedOf: { server: ServerConfig | null; user: Settings; received: SiteSettings | null } | undefined;
  #refreshing: Promise<void> | undefined;
  #refreshedAt = 0;

  constructor(deployment: Deployment, source: ServerConfigSource, state: UseStore) {
    this.#deployment = deployment;
    this.#source = source;
    this.#userSettings = new UserSettings(state);
    if (deployment.site) this.received = new ReceivedSettings(state);
  }

  /** The problem of the server config or the stored settings, if they are not in effect. */
  get problem(): string | null {
    return (this.#serverProblem ?? this.#settingsProblem)?.message ?? null;
  }

  settings(): Promise<Settings> {
    this.#settings ??= this.#userSettings.read().catch((error) => {
      this.#settingsProblem = asAntwayError(error);
      return {};
    });
    return this.#settings;
  }

  /** The settings take effect with the next request. @throws AntwayError `BAD_CONFIG`. */
  async set(value: unknown): Promise<Settings> {
    const settings = await this.#userSettings.write(value);
    this.#settings = Promise.resolve(settings);
    this.#settingsProblem = undefined;
    return settings;
  }

  /**
   * Deletes the user settings. The next request gets a new `EffectiveConfig` object, even if it is equal. The server
   * config stays in effect until the host responds.
   */
  async reset(): Promise<void> {
    await Promise.all([this.#userSettings.clear(), this.received?.clear(), this.#source.forget?.()]);
    this.#refreshing = undefined;
    this.#settings = undefined;
    this.#settingsProblem = undefined;
    this.#effective = undefined;
  }

  /** @throws AntwayError `BAD_CONFIG` if the server config is invalid and there is no earlier one. */
  async current(): Promise<EffectiveConfig> {
    const isKnown = this.#serverConfig !== undefined && !this.#isProvisional;
    const refreshing = this.#refresh(isKnown ? maxAgeMs : maxAgeIfLackingMs);
    if (this.#serverConfig === undefined) {
      const stored = await this.#source.stored();
      // The host may have returned a newer config.
      this.#serverConfig ??= stored;
    }
    if (this.#serverConfig === undefined) {
      await refreshing;
      if (this.#serverConfig === undefined) {
        // On a site's own origin the defaults would serve content that the host denies.
        const { site } = this.#deployment;
        if (this.#serverProblem && (site || !this.#serverProblem.details.isUnanswered))
          throw this.#serverProblem;
        this.#serverConfig = null;
        this.#isProvisional = true;
      }
    }
    return this.#combined();
  }

  /** Fetches the server config again, because the known config lacks something. Never rejects. */
  renew(): Promise<void> {
    return this.#refresh(maxAgeIfLackingMs);
  }

  async #combined(): Promise<EffectiveConfig> {
    this.#quota ??= storageQuota();
    const [own, quota, received = null] = await Promise.all([
      this.settings(),
      this.#quota,
      this.received?.get(),
    ]);
    const user = received?.settings ?? own;
    const server = this.#serverConfig ?? null;
    // This code runs for every request, and the configuration rarely changes.
    const last = this.#combinedOf;
    if (this.#effective && last?.server === server && last.user === user && last.received === received) {
      return this.#effective;
    }
    this.#combinedOf = { server, user, received };
    const combined = { ...combine(server, user, gatewayOrigin(this.#deployment), quota), received };
    const json = JSON.stringify(combined, (_, value) =>
      value instanceof Map || value instanceof Set ? [...value] : value,
    );
    if (this.#effective?.json !== json) {
      const site = this.#deployment.site?.address;
      const denied = site && new DenyList(combined.config.denied, site, received?.deniedHashes ?? []);
      const config = denied ? { ...combined.config, denied } : combined.config;
      this.#effective = { ...combined, config, json };
    }
    return this.#effective;
  }

  /** Fetches the server config, unless the last fetch is recent. Never rejects. */
  #refresh(olderThanMs: number): Promise<void> {
    if (!this.#refreshing || Date.now() - this.#refreshedAt > olderThanMs) {
      this.#refreshedAt = Date.now();
      this.#refreshing = this.#fetch();
    }
    return this.#refreshing;
  }

  async #fetch(): Promise<void> {
    try {
      const file = await this.#source.fetch();
      if (file === undefined) return;
      this.#serverProblem = undefined;
      this.#isProvisional = false;
      this.#serverConfig = file;
    } catch (error) {
      this.#serverProblem = asAntwayError(error);
      console.error('antway: the server configuration is not used:', this.#serverProblem.message);
    }
  }
}

/** The origin's storage quota in bytes. The caller asks once, because the value changes often. */
async function storageQuota(): Promise<number | undefined> {
  const storage: Partial<StorageManager> | undefined = globalThis.navigator?.storage;
  try {
    return (await storage?.estimate?.())?.quota;
  } catch {
    return undefined; // storage is blocked, so nothing is stored anyway
  }
}
