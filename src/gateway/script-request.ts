import { canRunScripts } from './content-type.ts';
import { isNavigation } from './error-response.ts';

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

/** Destinations that show a file, play it or give it to a script as data. They do not run or apply it. */
const harmless = new Set(['', 'image', 'audio', 'video', 'track', 'font', 'document', 'iframe', 'frame']);

/**
 * Whether the browser would run or apply the answer with the rights of the document that requests it: scripts, style
 * sheets, workers, worklets, XSLT, modules of every type, manifests and plug-ins. Destinations that a later browser adds
 * count as such.
 *
 * @param isOwnDocument whether the requesting document is from the same address: it may have styles of its own.
 */
export async function isApplied(
  { destination, mode }: Request,
  isOwnDocument: () => Promise<boolean>,
): Promise<boolean> {
  // A `use` element clones the SVG file's elements, with their handlers and links, into its own document.
  if (destination === 'image') return mode === 'same-origin';
  if (destination === 'style') return !(await isOwnDocument());
  return !harmless.has(destination);
}
