import type { Theme } from '../../themes.ts';
import { type ChosenAppearance, languageFor } from '../state/appearance.ts';
import { type PageTexts, textsIn } from './texts/texts.ts';

/** For whom a page is made. */
export interface Reader {
  texts: PageTexts;
  /** Null: as the system's. */
  theme: Theme | null;
}

/** Who sent a request. */
export async function readerOf(request: Request, appearance: ChosenAppearance): Promise<Reader> {
  // Where storage is blocked, nothing could be chosen.
  const { language, theme } = await appearance.get().catch(() => ({ language: null, theme: null }));
  return { texts: textsIn(language ?? languageFor(request)), theme };
}
