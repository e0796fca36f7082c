import { isNavigation } from '../pages/error-response.ts';
import { canRunScripts } from './content-type.ts';

/** A script that sends this header takes what comes for data, and puts none of it into its document as it is. */
export const asDataHeader = 'Antway-As-Data';

/**
 * Whether a script asks for a page, as routers do that put it into their own document: there the policy that it comes
 * with would not hold. Some of them take any type for a page, and are known by what they send.
 */
export function isPageForScript(request: Request, contentType: string): boolean {
  const { destination, headers } = request;
  if (destination !== '' || isNavigation(request) || headers.has(asDataHeader)) return false;
  return (
    canRunScripts(contentType) ||
    headers.has('HX-Request') ||
    /\btext\/html\b/.test(headers.get('Accept') ?? '')
  );
}
