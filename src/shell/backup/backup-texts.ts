import type { Language } from '../../languages.ts';
import { backup as de } from '../texts/de/backup.ts';
import { type BackupTexts, backup as en } from '../texts/en/backup.ts';
import { language } from '../texts/texts.ts';

const catalogues: Record<Language, BackupTexts> = { en, de };

/** The texts in the current language. */
export function backupTexts(): BackupTexts {
  return catalogues[language];
}
