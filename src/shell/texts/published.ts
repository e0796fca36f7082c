import { published as german } from './de/published.ts';
import { published as english } from './en/published.ts';
import { language } from './texts.ts';

/** Texts that the first screen does not need. They are loaded with the part of a screen that shows them. */
export function publishedTexts(): typeof english {
  return { en: english, de: german }[language];
}
