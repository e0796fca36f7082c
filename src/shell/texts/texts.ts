import { firstSpoken, type Language } from '../../languages.ts';
import { en, type Texts } from './en/index.ts';

export type { Texts };

/** The catalogues. Only English is in the first load. */
const catalogues: Record<Language, () => Promise<Texts>> = {
  en: async () => en,
  de: async () => (await import('./de/index.ts')).de,
};

/** Each language's name in itself: whoever looks for theirs may not read the one on the screen. */
export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' };

/** What the shell says, in the language that was chosen last. */
export let texts: Texts = en;
export let language: Language = 'en';
/** For numbers and dates: as the user's browser writes the language, such as `en-GB`. */
export let locale: string | undefined;

/** Changes the language. What is on the screen changes when it is rendered again. */
export async function speak(next: Language): Promise<void> {
  texts = await catalogues[next]();
  language = next;
  locale = preferred().find((tag) => firstSpoken([tag]) === next) ?? next;
}

/** The first of the browser's languages that there is a catalogue for, or English. */
export function browserLanguage(): Language {
  return firstSpoken(preferred()) ?? 'en';
}

function preferred(): readonly string[] {
  return globalThis.navigator?.languages ?? [];
}
