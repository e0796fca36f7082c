import { search as german } from './de/search.ts';
import { search as english } from './en/search.ts';
import { language } from './texts.ts';

/** Texts that the first screen does not need. They are loaded with the part of a screen that shows them. */
export function searchTexts(): typeof english {
  return { en: english, de: german }[language];
}
