import { firstSpoken, type Language } from '../../languages.ts';
import { en, type Texts } from './en/index.ts';

/** The catalogues. The first load contains only English. */
const catalogues: Record<Language, () => Promise<Texts>> = {
  en: async () => en,
  de: async () => (await import('./de/index.ts')).de,
};

/** The name of each language in that language: a user may not be able to read the current language. */
export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' };

export let texts: Texts = en;
export let language: Language = 'en';
/** The locale for numbers and dates, with the browser's variant of the language, such as `en-GB`. */
export let locale: string | undefined;

/** Changes the language. The screen changes only when it is rendered again. */
export async function speak(next: Language): Promise<void> {
  texts = await catalogues[next]();
  language = next;
  locale = preferred().find((tag) => firstSpoken([tag]) === next) ?? next;
}

/** Returns the browser's first language that has a catalogue, or English. */
export function browserLanguage(): Language {
  return firstSpoken(preferred()) ?? 'en';
}

function preferred(): readonly string[] {
  return globalThis.navigator?.languages ?? [];
}
