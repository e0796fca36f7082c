import type { Page } from '@playwright/test';
import type { ConfigSources } from '../../src/config.ts';
import type { Settings } from '../../src/server-config.ts';
import type { Answer, GatewayApi } from './gateway-client.ts';

/** The user's settings. */
export async function settingsOf(gateway: GatewayApi): Promise<Settings> {
  return JSON.parse((await gateway.fetch('/-/settings')).text);
}

/** Replaces the user's settings. */
export function putSettings(gateway: GatewayApi, settings: unknown): Promise<Answer> {
  return gateway.fetch('/-/settings', { method: 'PUT', body: JSON.stringify(settings) });
}

/** Sends JSON to an endpoint of the gateway. */
export function post(gateway: GatewayApi, endpoint: string, body: unknown): Promise<Answer> {
  return gateway.fetch(`/-/${endpoint}`, { method: 'POST', body: JSON.stringify(body) });
}

/** The configuration that is in effect. */
export async function configOf(
  gateway: GatewayApi,
): Promise<Settings & { sources: ConfigSources; problem: string }> {
  return JSON.parse((await gateway.fetch('/-/config')).text);
}

/**
 * Opens the advanced options on the screen of the settings. By the keyboard: the sections above still fill in, and a
 * click that begins before they move the page ends beside the button.
 */
export function openAdvancedOptions(page: Page): Promise<void> {
  return page.getByText('Advanced options').press('Enter');
}
