import { connectionDetails as de } from './de/connection-details.ts';
import { connectionDetails as en } from './en/connection-details.ts';
import { language } from './texts.ts';

/** In the current language. Load this module only when the texts are needed. */
export function connectionDetails(): typeof en {
  return { en, de }[language];
}
