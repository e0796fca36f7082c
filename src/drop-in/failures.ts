import { asDataHeader } from '../gateway/http/script-request.ts';
import { unclobbered } from './dom.ts';
import { explain, takeBack } from './note.ts';

/** The pause between two attempts for content that no peer gave, in milliseconds. */
const retryMs = 15_000;

/** Addresses whose failure was reported to the console. */
const reported = new Set<string>();
/** The URL of each element with a note. */
const waiting = new Map<HTMLImageElement | HTMLVideoElement, string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Reports content that does not load in a root: each address once, in the console. If no peer can be reached, a note
 * with the reason stands in the element's place until an attempt succeeds.
 * @param base the absolute URL of the worker's content.
 * @param signal ends this.
 */
export function watchFailures(root: Document | ShadowRoot, base: string, signal?: AbortSignal): void {
  unclobbered(root).addEventListener(
    'error',
    ({ target }) => {
      if (!(target instanceof Element && target.matches('img,input,audio,video,source'))) return;
      const element = (target.closest('audio,video') ?? target) as HTMLImageElement;
      const url = element.currentSrc || (target as HTMLImageElement).src;
      if (url.startsWith(base)) void examine(element, url, base);
    },
    { capture: true, signal: signal! },
  );
  addEventListener('online', () => retry(base), { signal: signal! });
  signal?.addEventListener('abort', () => waiting.clear());
}

/** Asks the worker for the reason, because elements do not tell it. */
async function examine(element: HTMLImageElement, url: string, base: string): Promise<void> {
  const headers = { [asDataHeader]: '1', Range: 'bytes=0-0' };
  const response = await fetch(url, { headers }).catch(() => undefined);
  if (!response) return;
  if (response.ok) {
    // Without a note, the file itself is not what the element can show.
    if (waiting.delete(element)) reload(element);
    return;
  }
  const { code, message } = await response.json().catch(() => ({}));
  const [address] = url.slice(base.length).split(/[/?#]/) as [string];
  if (!reported.has(address)) console.warn(`Antway: ${address}: ${message} (${code})`);
  reported.add(address);
  if (!/^(OFFLINE|PEERS_UNREACHABLE)$/.test(code)) return;
  if (!waiting.has(element)) explain(element, message, true);
  waiting.set(element, url);
  timer ??= setTimeout(retry, retryMs, base);
}

async function retry(base: string): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  for (const [element, url] of waiting) {
    // Other code may have removed the element, or have given it another URL.
    const isSame = element.isConnected && (element.currentSrc || element.src) === url;
    if (isSame) await examine(element as HTMLImageElement, url, base);
    else waiting.delete(element);
  }
}

function reload(element: HTMLImageElement | HTMLVideoElement): void {
  takeBack(element);
  if ('load' in element) element.load();
  else {
    const name = element.srcset ? 'srcset' : 'src';
    element.setAttribute(name, element[name]);
  }
}
