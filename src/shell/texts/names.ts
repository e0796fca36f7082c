import { names as german } from './de/names.ts';
import { names as english } from './en/names.ts';
import { language } from './texts.ts';

/** Texts that the first screen does not need. They are loaded with the part of a screen that shows them. */
export function nameTexts(): typeof english {
  return { en: english, de: german }[language];
}
