import { useEffect, useRef, useState } from 'preact/hooks';
import type { Settings } from '../../server-config.ts';
import { type GatewayApiError, type GatewayConfig, gateway } from '../gateway-api.ts';
import { changeSettings } from '../names/change-names.ts';
import { texts } from '../texts/texts.ts';
import { useAction } from '../use-action.ts';
import { type Resource, useResource } from '../use-resource.ts';

export interface SettingsState {
  /** The user settings after the last change, also while the gateway still processes the change. */
  own: Settings;
  /** The effective config of the gateway: server config and user settings combined. */
  config: GatewayConfig;
  error: GatewayApiError | null;
  announcement: string;
  /** Changes some keys, and returns whether it succeeded. An undefined value restores the host's value. */
  change(
    part: { [Key in keyof Settings]: Settings[Key] | undefined },
    announcement?: string,
  ): Promise<boolean>;
}

/** @returns null until the settings are known. */
export function useSettings(config: Resource<GatewayConfig>, active: boolean): SettingsState | null {
  const stored = useResource(gateway.settings, active);
  const [own, setOwn] = useState<Settings | null>(null);
  /** How many changes the gateway still processes. */
  const pending = useRef(0);
  const { error, announcement, run } = useAction(() => {
    // A refused change must disappear from the screen.
    stored.refresh();
    config.refresh();
  });
  useEffect(() => {
    // An answer from before the last change lacks it, and would undo it on the screen.
    if (pending.current === 0) setOwn(stored.value);
  }, [stored.value]);
  if (!own || !config.value) return null;
  return {
    own,
    config: config.value,
    error: error ?? stored.error,
    announcement,
    change(part, done = texts.settings.saved) {
      const merge = (settings: Settings) => {
        const all = Object.entries({ ...settings, ...part }).filter(([, value]) => value !== undefined);
        return Object.fromEntries(all) as Settings;
      };
      setOwn((last) => merge(last ?? own));
      pending.current++;
      // Another tab, or another part of this one, may have changed other settings.
      return run(() => changeSettings(merge).finally(() => pending.current--), done);
    },
  };
}
