import { open } from 'node:fs/promises';

/** Waits until the names in a folder are on the disk. Windows does not allow it, and needs it less. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path);
  await folder.sync().finally(() => folder.close());
}
