import { delMany, getMany, setMany, type UseStore } from 'idb-keyval';
import { firstSpoken, isLanguage, type Language } from '../../languages.ts';
import { isTheme, type Theme } from '../../themes.ts';

/** What the user chose in the shell; null for what the browser and the system have. */
export interface Appearance {
  language: Language | null;
  theme: Theme | null;
}

const keys = ['language', 'theme'];

/** What was chosen, as the worker keeps it: it makes pages too, and cannot read what the shell's page keeps. */
export class ChosenAppearance {
  readonly #state: UseStore;

  constructor(state: UseStore) {
    this.#state = state;
  }

  async get(): Promise<Appearance> {
    const [language, theme] = await getMany(keys, this.#state);
    // A page of the same origin may have written anything there.
    return { language: isLanguage(language) ? language : null, theme: isTheme(theme) ? theme : null };
  }

  async set({ language, theme }: Appearance): Promise<void> {
    const entries: [string, unknown][] = [
      ['language', language],
      ['theme', theme],
    ];
    await setMany(entries, this.#state);
  }

  async clear(): Promise<void> {
    await delMany(keys, this.#state);
  }
}

/**
 * The language in which a page is made where none was chosen: the first of the request's, else of the browser's, that
 * there is a catalogue for, else English. Chromium tells a worker only the browser's.
 */
export function languageFor({ headers }: Request): Language {
  const asked = tagsOf(headers.get('Accept-Language') ?? '');
  return firstSpoken(asked) ?? firstSpoken(globalThis.navigator?.languages ?? []) ?? 'en';
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
