import { pointers as german } from './de/pointers.ts';
import { pointers as english } from './en/pointers.ts';
import { language } from './texts.ts';

/** Texts that the first screen does not need. They are loaded with the part of a screen that shows them. */
export function pointerTexts(): typeof english {
  return { en: english, de: german }[language];
}
