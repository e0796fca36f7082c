import { de as pages } from '../../../gateway/pages/texts/de.ts';
import type { Texts } from '../en/index.ts';

/** German: texts for error codes. The shell shows them before the worker's own message, which is English. */
export const errors: Texts['errors'] = { ...pages.errors, UNANSWERED: 'Das Gateway antwortet nicht' };
