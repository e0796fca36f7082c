import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
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
  /** Asks the gateway for the user settings again. */
  refresh(): void;
  /** Changes some keys, and returns whether it succeeded. An undefined value restores the host's value. */
  change(
    part: { [Key in keyof Settings]: Settings[Key] | undefined },
    announcement?: string,
  ): Promise<boolean>;
}

/** @returns null until the settings are known. */
export function useSettings(config: Resource<GatewayConfig>, active: boolean): SettingsState | null {
  /** How many changes the gateway still processes, and how many it has processed. */
  const changes = useRef({ pending: 0, ended: 0 });
  const load = useCallback(async (signal: AbortSignal) => {
    const { ended } = changes.current;
    return { ended, settings: await gateway.settings(signal) };
  }, []);
  const stored = useResource(load, active);
  const [own, setOwn] = useState<Settings | null>(null);
  const { error, announcement, run } = useAction(() => {
    // A refused change must disappear from the screen.
    stored.refresh();
    config.refresh();
  });
  useEffect(() => {
    const { pending, ended } = changes.current;
    // An answer to a request from before the end of a change may lack it, and would undo it on the screen.
    if (stored.value && pending === 0 && stored.value.ended === ended) setOwn(stored.value.settings);
  }, [stored.value]);
  if (!own || !config.value) return null;
  const onEnd = () => {
    changes.current.pending--;
    changes.current.ended++;
  };
  return {
    own,
    config: config.value,
    error: error ?? stored.error,
    announcement,
    refresh: stored.refresh,
    change(part, done = texts.settings.saved) {
      const merge = (settings: Settings) => {
        const all = Object.entries({ ...settings, ...part }).filter(([, value]) => value !== undefined);
        return Object.fromEntries(all) as Settings;
      };
      setOwn((last) => merge(last ?? own));
      changes.current.pending++;
      // Another tab, or another part of this one, may have changed other settings.
      return run(() => changeSettings(merge).finally(onEnd), done);
    },
  };
}
