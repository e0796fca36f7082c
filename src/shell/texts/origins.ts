import { origins as german } from './de/origins.ts';
import { origins as english } from './en/origins.ts';
import { language } from './texts.ts';

/** Texts about the origins of sites. They are loaded with the part of a screen that shows them. */
export function originTexts(): typeof english {
  return { en: english, de: german }[language];
}
