import type { UseStore } from 'idb-keyval';
import { type Config, type ConfigSources, combine, type ServerConfig, type Settings } from '../../config.ts';
import { type AntwayError, asAntwayError } from '../../errors.ts';
import type { Deployment } from '../deployment.ts';
import type { ServerConfigSource } from './server-config.ts';
import { DenyList, ReceivedSettings, type SiteSettings } from './site-settings.ts';
import { UserSettings } from './user-settings.ts';

/** How old the server config may become before it is fetched again, in milliseconds. */
const maxAgeMs = 60_000;
/** The same limit if there is no server config, or if it lacks a requested name. */
const maxAgeInNeedMs = 2_000;

/** The configuration for requests. A new object means a new configuration. */
export interface EffectiveConfig {
  readonly config: Config;
  readonly sources: ConfigSources;
  /** On a site's own origin: the user settings that the site received. Null before it received any. */
  readonly received: SiteSettings | null;
}

/** Whether this is a site's own origin that has not received the user's settings yet. */
export function isUntoldSite({ trust }: Deployment, { received }: EffectiveConfig): boolean {
  return trust === 'site-settings' && !received;
}

/**
 * The effective config: the server config, combined with the user settings. The last known server config
 * stays in effect until the host returns a new one. All of this object's state can be lost with the worker at
 * any time.
 */
export class Configuration {
  readonly #deployment: Deployment;
  readonly #hostConfig: ServerConfigSource;
  readonly #ownSettings: UserSettings;
  /** Set only on a site's own origin. */
  readonly received: ReceivedSettings | undefined;
  /** undefined: not known yet. */
  #host: ServerConfig | null | undefined;
  /** Whether the gateway works without a server config because it has not reached the host yet. */
  #isProvisional = false;
  #hostProblem: AntwayError | undefined;
  #settingsProblem: AntwayError | undefined;
  #settings: Promise<Settings> | undefined;
  #quota: Promise<number | undefined> | undefined;
  #effective: (EffectiveConfig & { json: string }) | undefined;
  /** The parts from which `#effective` was combined. */
  #combinedOf: { host: ServerConfig | null; settings: Settings; received: SiteSettings | null } | undefined;
  #refreshing: Promise<void> | undefined;
  #refreshedAt = 0;

  constructor(deployment: Deployment, hostConfig: ServerConfigSource, state: UseStore) {
    this.#deployment = deployment;
    this.#hostConfig = hostConfig;
    this.#ownSettings = new UserSettings(deployment.origin, state);
    if (deployment.site) this.received = new ReceivedSettings(deployment.origin, state);
  }

  /**
   * The problem of the server config or the stored settings, if they are not in effect. Null if there is no
   * problem.
   */
  get problem(): string | null {
    return (this.#hostProblem ?? this.#settingsProblem)?.message ?? null;
  }

  /** Returns the user settings. */
  settings(): Promise<Settings> {
    this.#settings ??= this.#ownSettings.read().catch((error) => {
      this.#settingsProblem = asAntwayError(error);
      return {};
    });
    return this.#settings;
  }

  /** Stores user settings, which take effect with the next request. @throws AntwayError `BAD_CONFIG`. */
  async set(value: unknown): Promise<Settings> {
    const settings = await this.#ownSettings.write(value);
    this.#settings = Promise.resolve(settings);
    this.#settingsProblem = undefined;
    return settings;
  }

  /**
   * Deletes the user settings. The next request gets a new `EffectiveConfig` object, even if it is equal. The
   * server config stays in effect until the host responds. After that the host may have none.
   */
  async reset(): Promise<void> {
    await Promise.all([this.#ownSettings.clear(), this.received?.clear(), this.#hostConfig.forget?.()]);
    this.#refreshing = undefined;
    this.#settings = undefined;
    this.#settingsProblem = undefined;
    this.#effective = undefined;
  }

  /**
   * Returns the configuration for a request.
   * @throws AntwayError `BAD_CONFIG` if the server config is invalid and there is no earlier one.
   */
  async current(): Promise<EffectiveConfig> {
    const isKnown = this.#host !== undefined && !this.#isProvisional;
    const refreshing = this.#refresh(isKnown ? maxAgeMs : maxAgeInNeedMs);
    if (this.#host === undefined) {
      const stored = await this.#hostConfig.stored();
      // The host may have returned a newer config in the meantime.
      this.#host ??= stored;
    }
    if (this.#host === undefined) {
      await refreshing;
      if (this.#host === undefined) {
        // On a site's own origin the defaults would serve content that the host denies.
        const { site } = this.#deployment;
        if (this.#hostProblem && (site || !this.#hostProblem.details.isUnanswered)) throw this.#hostProblem;
        this.#host = null;
        this.#isProvisional = true;
      }
    }
    return this.#combined();
  }

  /** Fetches the server config again, because the known config lacks something. Never rejects. */
  renew(): Promise<void> {
    return this.#refresh(maxAgeInNeedMs);
  }

  async #combined(): Promise<EffectiveConfig> {
    this.#quota ??= storageQuota();
    const [own, quota, received = null] = await Promise.all([
      this.settings(),
      this.#quota,
      this.received?.get(),
    ]);
    const settings = received?.settings ?? own;
    const host = this.#host ?? null;
    // This code runs for every request, and the configuration rarely changes.
    const last = this.#combinedOf;
    if (this.#effective && last?.host === host && last.settings === settings && last.received === received) {
      return this.#effective;
    }
    this.#combinedOf = { host, settings, received };
    const combined = { ...combine(host, settings, this.#deployment.origin, quota), received };
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
      this.#refreshing = this.#askHost();
    }
    return this.#refreshing;
  }

  async #askHost(): Promise<void> {
    try {
      const file = await this.#hostConfig.fetch();
      if (file === undefined) return;
      this.#hostProblem = undefined;
      this.#isProvisional = false;
      this.#host = file;
    } catch (error) {
      this.#hostProblem = asAntwayError(error);
      console.error('antway: the host’s configuration is not used:', this.#hostProblem.message);
    }
  }
}

/**
 * Returns the browser's storage quota for this origin, in bytes. The caller asks once, because the value
 * changes often.
 */
async function storageQuota(): Promise<number | undefined> {
  const storage: Partial<StorageManager> | undefined = globalThis.navigator?.storage;
  try {
    return (await storage?.estimate?.())?.quota;
  } catch {
    return undefined; // storage is blocked, so nothing is stored anyway
  }
}
