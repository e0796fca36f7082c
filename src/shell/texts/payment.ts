import { payment as german } from './de/payment.ts';
import { payment as english } from './en/payment.ts';
import { language } from './texts.ts';

/** Texts for paid uploads. They are loaded with the part of the screen that shows them. */
export function paymentTexts(): typeof english {
  return { en: english, de: german }[language];
}
