import { del, get, set } from 'idb-keyval';
import { firstSpoken, type Language } from '../languages.ts';
import { settings } from './settings.ts';

const key = 'language';

/** The language that the person chose in the shell; null for that of the browser. */
export const chosenLanguage = {
  get: async (): Promise<Language | null> => (await get<Language>(key, settings)) ?? null,
  set: (language: Language | null): Promise<void> =>
    language ? set(key, language, settings) : del(key, settings),
  clear: (): Promise<void> => del(key, settings),
};

/**
 * The language in which a page is made: the chosen one, else the first of the request's, else of the browser's, that
 * there is a catalogue for, else English. Chromium tells a worker only the browser's.
 */
export async function languageFor({ headers }: Request): Promise<Language> {
  // Where storage is blocked, nothing could be chosen.
  const chosen = await chosenLanguage.get().catch(() => null);
  const asked = tagsOf(headers.get('Accept-Language') ?? '');
  return chosen ?? firstSpoken(asked) ?? firstSpoken(globalThis.navigator?.languages ?? []) ?? 'en';
}

/** The tags of an `Accept-Language` header, the most wanted first. */
function tagsOf(header: string): string[] {
  const wanted = header.split(',').map((part) => {
    const [tag = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => /^q=/i.test(text))?.slice(2);
    return { tag, weight: weight === undefined ? 1 : Number(weight) };
  });
  return wanted
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}
