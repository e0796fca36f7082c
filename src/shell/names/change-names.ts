import type { Settings } from '../../server-config.ts';
import { gateway } from '../gateway-api.ts';

/** Changes the user settings. Other pages wait: each would otherwise undo the change of the other. */
export function changeSettings(change: (settings: Settings) => Settings): Promise<void> {
  return navigator.locks.request('antway-settings', async () => {
    await gateway.setSettings(change(await gateway.settings(new AbortController().signal)));
  });
}

/** Changes the user's names. @param change returns the new names, name → address. */
export function changeNames(
  change: (names: Record<string, string>) => Record<string, string>,
): Promise<void> {
  return changeSettings((settings) => ({ ...settings, names: change({ ...settings.names }) }));
}
