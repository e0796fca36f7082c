import type { Language } from '../../../languages.ts';
import { language } from '../../texts/texts.ts';
import { de } from './de.ts';
import { en, type ReaderTexts } from './en.ts';

const catalogues: Record<Language, ReaderTexts> = { en, de };

/** The texts of the readers, which load with the readers and not with the shell. */
export function readerTexts(): ReaderTexts {
  return catalogues[language];
}
