import { find as findDe } from './de/find.ts';
import { shelf as shelfDe } from './de/shelf.ts';
import { find as findEn } from './en/find.ts';
import { shelf as shelfEn } from './en/shelf.ts';
import { language } from './texts.ts';

/** Texts of the start page that are loaded after its first screen, with the code that shows them, in all languages. */
const find = { en: findEn, de: findDe };
const shelf = { en: shelfEn, de: shelfDe };

export function findTexts() {
  return find[language];
}

export function shelfTexts() {
  return shelf[language];
}
