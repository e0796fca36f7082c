import type { Locator, Page } from '@playwright/test';
import { expect } from './chromium.ts';

export const sectionIn = (shell: Page) => shell.getByRole('region', { name: 'Backup', exact: true });

/** @param section the backup section of the settings. @returns the path of the saved file. */
export async function saveBackup(
  section: Locator,
  passphrase: string,
  withContents: boolean,
): Promise<string> {
  await section.getByRole('button', { name: 'Create a backup…' }).click();
  await section.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await section.getByLabel('Repeat the passphrase').fill(passphrase);
  if (withContents) await section.getByLabel('Include the content of pinned sites').check();
  const saving = section.page().waitForEvent('download', { timeout: 60_000 });
  await section.getByRole('button', { name: 'Save the backup' }).click();
  const download = await saving;
  expect(download.suggestedFilename()).toMatch(/^antway-\d{4}-\d\d-\d\d\.antwaybackup$/);
  await expect(section.getByRole('status')).toContainText('The backup was saved');
  await section.getByRole('button', { name: 'Done' }).click();
  return download.path();
}

export async function openBackup(section: Locator, file: string, passphrase: string): Promise<void> {
  const start = section.getByRole('button', { name: 'Restore a backup…' });
  const input = section.getByLabel('Backup file');
  await start.or(input).waitFor();
  if (await start.isVisible()) await start.click();
  await input.setInputFiles(file);
  await section.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await section.getByRole('button', { name: 'Open the backup' }).click();
}
