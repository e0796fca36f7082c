import type { Theme } from '../../themes.ts';
import { type ChosenAppearance, languageFor } from '../state/appearance.ts';
import { type PageTexts, textsIn } from './texts/texts.ts';

export interface Reader {
  texts: PageTexts;
  /** Null: the system's theme. */
  theme: Theme | null;
  /** Whether a frame shows the page. No frame shows the shell, so links to the shell then open a tab. */
  isFramed?: boolean;
}

export async function readerOf(request: Request, appearance: ChosenAppearance): Promise<Reader> {
  // If storage is blocked, the user cannot have chosen anything.
  const { language, theme } = await appearance.get().catch(() => ({ language: null, theme: null }));
  const isFramed = request.destination === 'iframe';
  return { texts: textsIn(language ?? languageFor(request)), theme, isFramed };
}
