import { expect, type Page } from '@playwright/test';

/** A part of a screen by its heading. */
export const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Replaces the user settings, as a page of the gateway does. */
export async function setSettings(page: Page, settings: object): Promise<void> {
  const status = await page.evaluate(
    async (body) => (await fetch('/-/settings', { method: 'PUT', body })).status,
    JSON.stringify(settings),
  );
  expect(status).toBe(200);
}

export async function settingsOf(page: Page): Promise<{ names?: object; nameLists?: object }> {
  return page.evaluate(async () => (await fetch('/-/settings')).json());
}

/** Opens a text in the input of the start page. */
export async function openBySearch(page: Page, text: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Search or open an address' }).fill(text);
  await page.getByRole('button', { name: 'Open', exact: true }).click();
}
