import { viewer as de } from './de/viewer.ts';
import { viewer as en, type ViewerTexts } from './en/viewer.ts';
import { language } from './texts.ts';

/** The texts of the viewer in the current language. They are loaded with the viewer. */
export const viewerTexts = (): ViewerTexts => (language === 'de' ? de : en);
