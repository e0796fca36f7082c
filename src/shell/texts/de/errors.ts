import { de as pages } from '../../../gateway/pages/texts/de.ts';
import type { Texts } from '../en/index.ts';

/** German: what is said of an error by its code, before the worker's own message, which is English. */
export const errors: Texts['errors'] = { ...pages.errors, UNANSWERED: 'Das Gateway antwortet nicht' };
