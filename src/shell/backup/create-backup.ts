import { encryptBackup } from '../../library/backup/backup-records.ts';
import { asGatewayApiError, gateway } from '../gateway-api.ts';
import { libraryHere, pinnedSiteFile, publicationFile } from '../move/library-here.ts';
import { chosenTheme } from '../preferences.ts';
import {
  type BackupDescription,
  type BackupFile,
  checkDescription,
  writeContents,
} from './backup-contents.ts';
import { pointersHere } from './backup-pointers.ts';

export interface CreatedBackup {
  file: Blob;
  name: string;
  sites: number;
  /** Pinned sites whose content is not in the file, although it was wanted. */
  without: string[];
  /** Lasting addresses that are not in the file, because no passphrase unlocks their keys. */
  bound: number;
}

/**
 * Writes everything of this library into one encrypted file.
 * @param withContents whether the chunks of pinned sites are added.
 * @throws GatewayApiError, or AntwayError if the library is too large.
 */
export async function createBackup(
  passphrase: string,
  withContents: boolean,
  onProgress: (done: number, count: number) => void,
  signal: AbortSignal,
): Promise<CreatedBackup> {
  const [library, decisions, { pointers, bound }] = await Promise.all([
    libraryHere(signal),
    gateway.trust(signal),
    pointersHere(),
  ]);
  const description: BackupDescription = {
    ...library,
    createdAt: Date.now(),
    origin: location.origin,
    theme: chosenTheme(),
    pointers,
    trusted: decisions
      .filter(({ decision }) => decision === 'trusted')
      .map(({ address, content, allVersions }) => ({
        address,
        content: allVersions ? null : (content ?? address),
      })),
  };
  await checkDescription(description);
  const without: string[] = [];
  const files = filesOf(description, withContents, without, onProgress, signal);
  const pieces: Blob[] = [];
  for await (const piece of encryptBackup(passphrase, writeContents(description, files))) {
    signal.throwIfAborted();
    // Separate blobs, so that the browser can keep a large file on disk.
    pieces.push(new Blob([piece]));
  }
  const file = new Blob(pieces, { type: 'application/octet-stream' });
  const name = `antway-${new Date().toISOString().slice(0, 10)}.antwaybackup`;
  return { file, name, sites: description.sites.length, without, bound };
}

async function* filesOf(
  { sites, publications }: BackupDescription,
  withContents: boolean,
  without: string[],
  onProgress: (done: number, count: number) => void,
  signal: AbortSignal,
): AsyncGenerator<BackupFile, void> {
  for (const [i, { address, isPinned, isPrivate }] of sites.entries()) {
    signal.throwIfAborted();
    onProgress(i, sites.length + publications.length);
    if (isPrivate) yield { kind: 'manifest', address, file: await gateway.manifest(address) };
    if (!isPinned || !withContents) continue;
    const file = await pinnedSiteFile(address).catch((error) => {
      console.warn(`antway: ${address} is backed up without its content:`, asGatewayApiError(error).message);
      without.push(address);
      return null;
    });
    if (file) yield { kind: 'site', address, file };
  }
  for (const [i, { id }] of publications.entries()) {
    signal.throwIfAborted();
    onProgress(sites.length + i, sites.length + publications.length);
    yield { kind: 'publication', address: id, file: await publicationFile(id) };
  }
}
