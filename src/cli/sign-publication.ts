import { Option } from 'commander';
import type { OwnerKey } from '../owner/owner-key.ts';
import { signMembers } from '../owner/sign-members.ts';
import type { Output } from './output.ts';
import { showCount } from './progress.ts';
import type { LocalPublication } from './publish-path.ts';
import { nativeHash } from './signatures.ts';
import { UsageError } from './usage-error.ts';

export function signOption(): Option {
  return new Option('--sign <file>', 'sign each file of the folder with the owner’s key in this key file');
}

/** Signs the files of a folder. @throws UsageError for a single file; as `signMembers`. */
export async function signPublication(
  publication: LocalPublication,
  key: OwnerKey,
  output: Output,
  signal: AbortSignal,
): Promise<LocalPublication> {
  if (publication.kind === 'file') {
    throw new UsageError('Only the files of a folder can be signed: the signatures are in its index.');
  }
  const { listing } = publication;
  const display = showCount(output, 'Signing', 'files');
  try {
    const progress = display.update;
    const entries = await signMembers(listing.entries, key, { signal, newHash: nativeHash, progress });
    return { kind: 'folder', listing: { ...listing, entries } };
  } finally {
    display.stop();
  }
}
