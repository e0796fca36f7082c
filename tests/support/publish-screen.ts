import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, type Locator, type Page } from '@playwright/test';

/** For `startPeer`: a page of another origin may only write with a token. */
export const token = 'open sesame';

/** Writes files below a folder. @returns the folder. */
export function writeFiles(folder: string, files: Record<string, string>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** The checkboxes of the peers to upload to. */
export function knownPeers(page: Page): Locator {
  return page.getByRole('group', { name: 'Peers to upload to' }).getByRole('checkbox');
}

/** Publishes a folder or a file on the publish screen, and waits for the result. */
export async function publishPath(
  page: Page,
  path: string,
  kind: 'folder' | 'files',
  isPrivate = false,
): Promise<void> {
  await page.locator(`input[name=${kind}]`).setInputFiles(path);
  if (isPrivate) await page.getByRole('radio', { name: 'Private' }).check();
  else await page.getByRole('radio', { name: 'Public' }).check();
  await page.getByLabel('Write token').fill(token);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByRole('heading', { name: /^Published( privately)?$/ })).toBeVisible({
    timeout: 45_000,
  });
}

/** The rows of “Published by you”. */
export function publishedRows(page: Page): Locator {
  return page.getByRole('region', { name: 'Published by you' }).locator('.published-row');
}
