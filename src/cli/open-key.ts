import { AntwayError } from '../errors.ts';
import { OwnerKey } from '../owner/owner-key.ts';
import type { CommandContext } from './context.ts';
import { readKeyFile } from './owner-files.ts';
import { readPassphrase } from './passphrase.ts';

/**
 * Reads and decrypts a key file.
 * @throws AntwayError as `readKeyFile`, `REFUSED` for a wrong passphrase, `CORRUPT` if the file has another key than it
 *   says; UsageError as `readPassphrase`.
 */
export async function openKey(path: string, context: CommandContext): Promise<OwnerKey> {
  const file = await readKeyFile(path);
  const key = new OwnerKey(await file.seed(await readPassphrase(context, false)));
  if (key.address.hex === file.address.hex) return key;
  throw new AntwayError('CORRUPT', `“${path}” has another key than it says.`, { path });
}
