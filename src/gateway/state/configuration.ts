import type { UseStore } from 'idb-keyval';
import { type Config, type ConfigSources, combine, type ServerConfig, type Settings } from '../../config.ts';
import { type AntwayError, asAntwayError } from '../../errors.ts';
import type { Deployment } from '../deployment.ts';
import type { ServerConfigSource } from './server-config.ts';
import { DenyList, ReceivedSettings, type SiteSettings } from './site-settings.ts';
import { UserSettings } from './user-settings.ts';

/** How old the host's file may be before it is asked for again, in milliseconds. */
const maxAgeMs = 60_000;
/** The same while there is none to work with, or it lacks what was asked for. */
const maxAgeInNeedMs = 2_000;

/** A configuration to work by. Another object means another configuration. */
export interface EffectiveConfig {
  readonly config: Config;
  readonly sources: ConfigSources;
  /** On a site's own origin: what that was told of the user's settings; null before it was told anything. */
  readonly received: SiteSettings | null;
}

/** Whether this is a site's own origin that knows nothing of the user's settings yet. */
export function isUntoldSite({ trust }: Deployment, { received }: EffectiveConfig): boolean {
  return trust === 'site-settings' && !received;
}

/**
 * The configuration in force: the host's file, as it was last known until the host gives another, and what the
 * user set over it. Everything here can be lost with the worker at any time.
 */
export class Configuration {
  readonly #deployment: Deployment;
  readonly #hostConfig: ServerConfigSource;
  readonly #ownSettings: UserSettings;
  /** On a site's own origin. */
  readonly received: ReceivedSettings | undefined;
  /** undefined: not known yet. */
  #host: ServerConfig | null | undefined;
  /** Whether it works without a file because the host has not been reached yet. */
  #isProvisional = false;
  #hostProblem: AntwayError | undefined;
  #settingsProblem: AntwayError | undefined;
  #settings: Promise<Settings> | undefined;
  #quota: Promise<number | undefined> | undefined;
  #effective: (EffectiveConfig & { json: string }) | undefined;
  /** What `#effective` was combined of. */
  #combinedOf: { host: ServerConfig | null; settings: Settings; received: SiteSettings | null } | undefined;
  #refreshing: Promise<void> | undefined;
  #refreshedAt = 0;

  constructor(deployment: Deployment, hostConfig: ServerConfigSource, state: UseStore) {
    this.#deployment = deployment;
    this.#hostConfig = hostConfig;
    this.#ownSettings = new UserSettings(deployment.origin, state);
    if (deployment.site) this.received = new ReceivedSettings(deployment.origin, state);
  }

  /** What is wrong with the host's file, or the kept settings, while others are in force; null when nothing is. */
  get problem(): string | null {
    return (this.#hostProblem ?? this.#settingsProblem)?.message ?? null;
  }

  /** What the user set. */
  settings(): Promise<Settings> {
    this.#settings ??= this.#ownSettings.read().catch((error) => {
      this.#settingsProblem = asAntwayError(error);
      return {};
    });
    return this.#settings;
  }

  /** Keeps what the user set; it is in force for the next request. @throws AntwayError `BAD_CONFIG`. */
  async set(value: unknown): Promise<Settings> {
    const settings = await this.#ownSettings.write(value);
    this.#settings = Promise.resolve(settings);
    this.#settingsProblem = undefined;
    return settings;
  }

  /**
   * Forgets what the user set, and begins anew: the next request meets another configuration, even an equal one. The
   * host's file stays in force until the host answers, and then it may be without one.
   */
  async reset(): Promise<void> {
    await Promise.all([this.#ownSettings.clear(), this.received?.clear(), this.#hostConfig.forget?.()]);
    this.#refreshing = undefined;
    this.#settings = undefined;
    this.#settingsProblem = undefined;
    this.#effective = undefined;
  }

  /**
   * The configuration to answer a request by.
   * @throws AntwayError `BAD_CONFIG` when the host's file is not valid and there was none before.
   */
  async current(): Promise<EffectiveConfig> {
    const isKnown = this.#host !== undefined && !this.#isProvisional;
    const refreshing = this.#refresh(isKnown ? maxAgeMs : maxAgeInNeedMs);
    if (this.#host === undefined) {
      const stored = await this.#hostConfig.stored();
      // What the host has given by now is newer.
      this.#host ??= stored;
    }
    if (this.#host === undefined) {
      await refreshing;
      if (this.#host === undefined) {
        // On a site's own origin the defaults would serve what the host denies.
        const { site } = this.#deployment;
        if (this.#hostProblem && (site || !this.#hostProblem.details.isUnanswered)) throw this.#hostProblem;
        this.#host = null;
        this.#isProvisional = true;
      }
    }
    return this.#combined();
  }

  /** Asks the host again, for something that the known configuration lacks. Never rejects. */
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
    // Every request comes here, and almost never has anything changed.
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

  /** Asks the host, unless that was done a short while ago. Never rejects. */
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

/** What the browser gives this origin, in bytes. Asked once, since it changes a little all the time. */
async function storageQuota(): Promise<number | undefined> {
  const storage: Partial<StorageManager> | undefined = globalThis.navigator?.storage;
  try {
    return (await storage?.estimate?.())?.quota;
  } catch {
    return undefined; // storage is blocked, so nothing is kept anyway
  }
}
