import { signatures as de } from './de/signatures.ts';
import { signatures as en, type SignatureTexts } from './en/signatures.ts';
import { language } from './texts.ts';

/** Texts that are loaded with the parts of screens that sign files or check signatures. */
export const signatureTexts = (): SignatureTexts => (language === 'de' ? de : en);
