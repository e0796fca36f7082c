import type { Page } from '@playwright/test';
import type { Site } from '../../src/library/library.ts';
import type { ListedPin } from '../../src/library/pin-state.ts';
import { expect, fetchIn } from './chromium.ts';

export type { ListedPin, Site };

/** All pins, as the worker tells them. */
export async function listPins(page: Page): Promise<ListedPin[]> {
  const { status, text } = await fetchIn(page, '/-/pins');
  expect(status, text).toBe(200);
  return JSON.parse(text).pins;
}

export async function listSites(page: Page): Promise<Site[]> {
  const { status, text } = await fetchIn(page, '/-/sites');
  expect(status, text).toBe(200);
  return JSON.parse(text).sites;
}

export async function pinAction(
  page: Page,
  address: string,
  action: 'pin' | 'pause' | 'resume' | 'verify',
): Promise<ListedPin> {
  const { status, text } = await fetchIn(page, '/-/pins', {
    method: 'POST',
    body: JSON.stringify({ address, action }),
  });
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

export async function unpin(page: Page, address: string): Promise<void> {
  const { status, text } = await fetchIn(page, `/-/pins?address=${address}`, { method: 'DELETE' });
  expect(status, text).toBe(204);
}

/** Resolves when the pin is as is wanted. */
export async function expectPin(page: Page, address: string, wanted: Partial<ListedPin>): Promise<ListedPin> {
  let pin: ListedPin | undefined;
  await expect
    .poll(
      async () => {
        pin = (await listPins(page)).find((each) => each.address === address);
        return pin;
      },
      // A thousand chunks take their time on a busy machine.
      { timeout: 120_000 },
    )
    .toMatchObject(wanted);
  return pin!;
}
