import { share as de } from './de/share.ts';
import { share as en, type ShareTexts } from './en/share.ts';
import { language } from './texts.ts';

/** The texts of sharing in the current language. They are loaded with the component that shows them. */
export const shareTexts = (): ShareTexts => (language === 'de' ? de : en);
