import { canRunScripts } from './content-type.ts';
import { isNavigation } from './navigation.ts';

/** A script that sends this header treats the response as data, and does not insert it into its document as it is. */
export const asDataHeader = 'Antway-As-Data';

/** The header's value in the request of the progress page. The navigation after it shows the error, if it fails. */
const fromProgressPage = 'progress';

export function isOfProgressPage({ headers }: Request): boolean {
  return headers.get(asDataHeader) === fromProgressPage;
}

/**
 * Whether a script requests a page. Routers do this and insert the page into their own document, where the page's
 * policy would not apply. Some routers accept any type as a page. Their request headers identify them.
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
