import { Address } from '../../address.ts';
import { clientQuestion, viewQuestion } from '../../gateway/origins/view-shim.ts';
import { sanitizeText } from '../../util/sanitize-text.ts';
import type { ShownPage } from './view-api.ts';

/** The page of a frame, as the page itself describes it. */
export interface FramePage {
  /** Path and query below the root, with a leading slash. */
  path: string;
  /** Empty, or with its `#`. */
  hash: string;
  /** Text of a stranger as one line, with at most 200 characters. Empty if the page has none. */
  title: string;
  /** On the gateway's origin: the first segment of the path. Null on a site's own origin. */
  root: string | null;
}

const mostUrlCharacters = 8_000;
const mostTitleCharacters = 200;
/** A page that is busy, or that has no script of the gateway, does not answer. In milliseconds. */
const answerMs = 400;

/**
 * Reads what a frame shows. On a site's own origin, the page is asked, and a page of another origin gets no question. A
 * page can lie about its own title and path only.
 * @param origin of the frame. @returns null if the page does not say it.
 */
export async function readFrame(
  frame: HTMLIFrameElement | null,
  origin: string,
  isOwnOrigin: boolean,
): Promise<FramePage | null> {
  const window = frame?.contentWindow;
  if (!window) return null;
  if (isOwnOrigin) {
    const answer = await askFrame(window, viewQuestion, origin);
    return Array.isArray(answer) ? parseFramePage(answer[0], answer[1], origin, true) : null;
  }
  try {
    return parseFramePage(window.location.href, window.document.title, origin, false);
  } catch {
    return null; // a page of another origin, such as an error page of the browser
  }
}

/**
 * Asks the worker of a site's own origin, through the page in the frame, which page that is. A script can change the URL of
 * a page, but not the id of its client. A page can claim to be another page of its site only.
 * @returns `FramedPage.client`; null if nothing answers.
 */
export async function readClient(frame: HTMLIFrameElement | null, origin: string): Promise<string | null> {
  const window = frame?.contentWindow;
  const answer = window ? await askFrame(window, clientQuestion, origin) : null;
  return typeof answer === 'string' ? answer : null;
}

/** Takes the first answer only. */
function askFrame(window: Window, question: string, origin: string): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  return new Promise<unknown>((resolve) => {
    setTimeout(resolve, answerMs, null);
    port1.onmessage = ({ data }) => resolve(data);
    window.postMessage(question, { targetOrigin: origin, transfer: [port2] });
  }).finally(() => port1.close());
}

/** @returns null for another origin, and for anything that is not the URL of content. */
export function parseFramePage(
  url: unknown,
  title: unknown,
  origin: string,
  isOwnOrigin: boolean,
): FramePage | null {
  if (typeof url !== 'string' || url.length > mostUrlCharacters || !URL.canParse(url)) return null;
  const { origin: found, pathname, search, hash } = new URL(url);
  // The origin of a `blob:` URL is that of its page.
  if (found !== origin || !pathname.startsWith('/') || pathname.startsWith('/-/')) return null;
  const text = typeof title === 'string' ? sanitizeText(title.slice(0, 4_000), mostTitleCharacters) : '';
  if (isOwnOrigin) return { path: pathname + search, hash, title: text, root: null };
  const [, root = '', path = ''] = /^\/([^/]*)\/?(.*)$/s.exec(pathname) ?? [];
  return root ? { path: `/${path}${search}`, hash, title: text, root } : null;
}

/** Whether a page of the worker's record can be the page of the frame. */
export function isSamePage({ path, root }: FramePage, page: ShownPage): boolean {
  // A name can stand for the address.
  const isOfAddress = root === null || !Address.isHex(root) || root.toLowerCase() === page.address;
  return isOfAddress && path === page.path;
}
