import { delMany, getMany, setMany, type UseStore } from 'idb-keyval';
import * as v from 'valibot';
import { firstSpoken, isLanguage, type Language, languages } from '../../languages.ts';
import * as s from '../../schema.ts';
import { isTheme, themes } from '../../themes.ts';

export const appearanceSchema = s.object({
  language: v.nullable(v.picklist(languages)),
  theme: v.nullable(v.picklist(themes)),
});

/** The user's choice in the shell. Null means the browser's language or the system's theme. */
export type Appearance = v.InferOutput<typeof appearanceSchema>;

const keys = ['language', 'theme'];

/** Stored for the worker, which also generates pages and cannot read the shell's own storage. */
export class ChosenAppearance {
  readonly #state: UseStore;

  constructor(state: UseStore) {
    this.#state = state;
  }

  async get(): Promise<Appearance> {
    const [language, theme] = await getMany(keys, this.#state);
    // A page of the same origin may have written any value there.
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
 * Returns the language of a page if the user has chosen none: the first supported language of the request, then of the
 * browser, then English. In Chromium a worker sees only the browser's languages.
 */
export function languageFor({ headers }: Request): Language {
  const requested = tagsOf(headers.get('Accept-Language') ?? '');
  return firstSpoken(requested) ?? firstSpoken(globalThis.navigator?.languages ?? []) ?? 'en';
}

/** Returns the tags of an `Accept-Language` header, in order of preference. */
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
