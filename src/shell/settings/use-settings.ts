import { useEffect, useState } from 'preact/hooks';
import type { Settings } from '../../config.ts';
import { type GatewayApiError, type GatewayConfig, gateway } from '../gateway-api.ts';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import { type Resource, useResource } from '../use-resource.ts';

/** What the user set, what is in force, and the way to set it otherwise. */
export interface SettingsState {
  /** As it was set last, also while the gateway is still told of it. */
  own: Settings;
  /** Host's and user's together, as the gateway knows it. */
  config: GatewayConfig;
  /** Why the last change was refused. */
  error: GatewayApiError | null;
  announcement: string;
  /** Sets some keys, and leaves the others. A key that is undefined is the host's again. */
  change(part: { [Key in keyof Settings]: Settings[Key] | undefined }, announcement?: string): Promise<void>;
}

/** @returns null while they are not known. */
export function useSettings(config: Resource<GatewayConfig>, active: boolean): SettingsState | null {
  const kept = useResource(gateway.settings, active);
  const [own, setOwn] = useState<Settings | null>(null);
  const { error, announcement, run } = useAction(() => {
    // What was refused goes back to what it was.
    kept.refresh();
    config.refresh();
  });
  useEffect(() => setOwn(kept.value), [kept.value]);
  if (!own || !config.value) return null;
  return {
    own,
    config: config.value,
    error: error ?? kept.error,
    announcement,
    change(part, done = texts.settings.saved) {
      const all = Object.entries({ ...own, ...part }).filter(([, value]) => value !== undefined);
      const next = Object.fromEntries(all) as Settings;
      setOwn(next);
      return run(() => gateway.setSettings(next), done);
    },
  };
}
