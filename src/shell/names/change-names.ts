import type { Settings } from '../../server-config.ts';
import { GatewayApiError, gateway } from '../gateway-api.ts';

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

/**
 * Adds a name. The page that asked may not know yet what another page has added.
 * @param problem the text for a name that has another address.
 * @throws GatewayApiError `CHANGED` for such a name.
 */
export function withName(
  names: Readonly<Record<string, string>>,
  name: string,
  address: string,
  problem: string,
): Record<string, string> {
  const known = Object.hasOwn(names, name) ? names[name]! : address;
  if (known.toLowerCase() !== address) throw new GatewayApiError('CHANGED', problem, { isTranslated: true });
  return { ...names, [name]: address };
}
