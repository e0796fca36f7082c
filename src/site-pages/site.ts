/**
 * `/-/site`, shown on a site's own origin before its first content: starts the worker, fetches the user's settings from the
 * gateway's own origin, and opens what was asked for. Hosts answer every path of a site's origin with it.
 */
import { siteOfHost } from '../gateway/origins/site-host.ts';
import { manage } from './manage.ts';
import { helloMessage, readyMessage, type Welcome } from './messages.ts';
import { controlledByWorker, WorkerProblem } from './worker.ts';

/** How long the gateway's own origin may take to answer, in milliseconds. */
const rootMs = 5_000;
/** How long the browser may take to decide whether it keeps this origin, in milliseconds. */
const persistMs = 1_000;
/** Most openings last less, and a flash of text would only unsettle. */
const quietMs = 400;
/** How often this page may open the same URL within `repeatMs`, in milliseconds, before it says that something is wrong. */
const mostTimes = 3;
const repeatMs = 20_000;
const storageKey = 'antway.opened';

const texts = {
  en: {
    opening: 'Opening…',
    failed: 'This site could not be opened',
    again: 'Try again',
    home: 'Open the gateway',
    repeated: 'The worker does not answer for this page. Close the other tabs of this site, then try again.',
  },
  de: {
    opening: 'Wird geöffnet …',
    failed: 'Diese Seite konnte nicht geöffnet werden',
    again: 'Erneut versuchen',
    home: 'Gateway öffnen',
    repeated:
      'Der Worker antwortet für diese Seite nicht. Schließen Sie die anderen Tabs dieser Seite und versuchen Sie es erneut.',
  },
};
const language = navigator.language.startsWith('de') ? 'de' : 'en';
const t = texts[language];
document.documentElement.lang = language;

const site = siteOfHost(location.host);
const rootOrigin = site && `${location.protocol}//${site.rootHost}`;
const status = document.getElementById('status')!;

async function open(rootOrigin: string): Promise<void> {
  await controlledByWorker();
  const { welcome, port } = await askRoot(rootOrigin);
  const form = new FormData();
  form.set('settings', JSON.stringify(welcome?.settings ?? null));
  if (welcome?.manifest) form.set('manifest', welcome.manifest);
  const taken = await fetch('/-/origin', { method: 'PUT', body: form });
  // A page of the gateway in another tab may have been first.
  if (!taken.ok && taken.status !== 403) {
    const { code, message } = await taken.json();
    throw Object.assign(new Error(message), { code });
  }
  // A browser forgets what a page asked that has gone.
  const asked = Promise.race([persistSilently(), new Promise((resolve) => setTimeout(resolve, persistMs))]);
  if (welcome && port) await noted(port);
  await asked.catch((error) => console.warn('antway: the browser was not asked to keep this', error));
  if (location.pathname === '/-/site') return manage(status, rootOrigin, language);
  const url = location.href;
  if (isRepeated(url)) throw new WorkerProblem('NOT_ANSWERED', t.repeated);
  // With a fragment that differs in nothing else, the page would only scroll.
  if (url.includes('#')) history.replaceState(null, '', '/-/');
  location.replace(url);
}

/** Asks the browser not to clear this origin on its own, unless it would ask the user: the shell does that when they pin. */
async function persistSilently(): Promise<void> {
  // Only Firefox asks, and no standard tells which browsers do.
  if ('mozInnerScreenX' in window) {
    const { state } = await navigator.permissions.query({ name: 'persistent-storage' });
    if (state !== 'granted') return;
  }
  await navigator.storage?.persist?.();
}

/** Has the gateway's own origin note that this one is ready. Its frame goes away with this page, so this waits for the answer. */
function noted(port: MessagePort): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, rootMs);
    port.onmessage = () => resolve();
    port.postMessage({ type: readyMessage });
  });
}

/** @returns no welcome where the gateway's own origin does not answer: then the defaults hold. */
function askRoot(rootOrigin: string): Promise<{ welcome: Welcome | null; port?: MessagePort }> {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.src = `${rootOrigin}/-/root`;
  const { port1: port, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, rootMs, { welcome: null });
    port.onmessage = ({ data }) => {
      clearTimeout(timer);
      resolve({ welcome: data, port });
    };
    frame.onload = () =>
      frame.contentWindow?.postMessage(
        { type: helloMessage },
        { targetOrigin: rootOrigin, transfer: [port2] },
      );
    document.body.append(frame);
  });
}

/**
 * Whether this page comes again and again for the same URL because the worker does not answer. A reload by the user, which
 * may go past the worker, counts afresh.
 */
function isRepeated(url: string): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  try {
    const [count, at, last] = sessionStorage.getItem(storageKey)?.split(' ') ?? [];
    const isAgain =
      last === url &&
      navigation?.type !== 'reload' &&
      Date.now() - Number(at) < repeatMs &&
      Number(count) > 0;
    const times = isAgain ? Number(count) + 1 : 1;
    sessionStorage.setItem(storageKey, `${times} ${Date.now()} ${url}`);
    return times > mostTimes;
  } catch {
    return false; // storage is blocked
  }
}

function show(heading: string, message = ''): void {
  const title = document.createElement('h1');
  title.textContent = heading;
  status.replaceChildren(title);
  if (!message) return;
  const paragraph = document.createElement('p');
  paragraph.textContent = message;
  status.append(paragraph, link(t.again, location.href), ' ', link(t.home, `${rootOrigin ?? ''}/`));
}

function link(text: string, href: string): HTMLAnchorElement {
  return Object.assign(document.createElement('a'), { href, textContent: text });
}

if (rootOrigin) {
  const timer = setTimeout(show, quietMs, t.opening);
  open(rootOrigin)
    .catch((error) => show(t.failed, `${error.message} (${error.code ?? 'INTERNAL'})`))
    .finally(() => clearTimeout(timer));
} else {
  show(t.failed, `${location.host} (BAD_ADDRESS)`);
}
