import { formatCount } from '../format.ts';
import type { BackupTexts } from '../texts/en/backup.ts';

/** The counts that a restore added, without those that are 0. Empty if all are 0. */
export function addedText(
  { added, addedParts }: Pick<BackupTexts, 'added' | 'addedParts'>,
  counts: Readonly<Record<keyof BackupTexts['addedParts'], number>>,
): string {
  const parts = (Object.keys(addedParts) as (keyof typeof counts)[])
    .filter((part) => counts[part] > 0)
    .map((part) => addedParts[part](counts[part], formatCount(counts[part])));
  return parts.length > 0 ? added(parts.join(', ')) : '';
}
