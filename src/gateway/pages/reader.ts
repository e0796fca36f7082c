import type { Theme } from '../../themes.ts';
import { type ChosenAppearance, languageFor } from '../state/appearance.ts';
import { type PageTexts, textsIn } from './texts/texts.ts';

/** The user's preferences for a page. */
export interface Reader {
  texts: PageTexts;
  /** Null: the system's theme. */
  theme: Theme | null;
}

/** Returns the preferences of the user who sent a request. */
export async function readerOf(request: Request, appearance: ChosenAppearance): Promise<Reader> {
  // If storage is blocked, the user cannot have chosen anything.
  const { language, theme } = await appearance.get().catch(() => ({ language: null, theme: null }));
  return { texts: textsIn(language ?? languageFor(request)), theme };
}
