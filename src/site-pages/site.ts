/**
 * `/-/site`, the page that a site's own origin shows before its first content. It starts the worker, fetches the user's
 * settings from the gateway's own origin, and opens the requested URL. Hosts respond with this page to every path of a
 * site's origin.
 */
import { siteOfHost } from '../gateway/origins/site-host.ts';
import { loadOwnUrl } from '../util/own-url.ts';
import { element, link } from './elements.ts';
import { problemText, request } from './endpoint.ts';
import { manage } from './manage.ts';
import { helloMessage, readyMessage, type Welcome } from './messages.ts';
import { controlledByWorker, WorkerProblem } from './worker.ts';

/** How long the gateway's own origin may take to reply. */
const rootMs = 5_000;
/** How long the browser may take to decide whether this origin's storage is persistent. */
const persistMs = 1_000;
/** The delay before the page shows text. Most sites open faster, and flashing text would be unpleasant. */
const quietMs = 400;
/** How long a text waits for its style. */
const styleMs = 1_000;
/** How often this page may open the same URL within `repeatMs` milliseconds before it reports an error. */
const mostTimes = 3;
const repeatMs = 20_000;
const storageKey = 'antway.opened';

const texts = {
  en: {
    opening: 'Opening …',
    failed: 'This site could not be opened',
    again: 'Try again',
    home: 'Open the gateway',
    repeated:
      'The service worker does not answer for this page. Close the other tabs of this site, then try again.',
  },
  de: {
    opening: 'Wird geöffnet …',
    failed: 'Diese Website konnte nicht geöffnet werden',
    again: 'Erneut versuchen',
    home: 'Gateway öffnen',
    repeated:
      'Der Service Worker antwortet für diese Seite nicht. Schließen Sie die anderen Tabs dieser Website und versuchen Sie es erneut.',
  },
};
const language = navigator.language.startsWith('de') ? 'de' : 'en';
const t = texts[language];
document.documentElement.lang = language;

const site = siteOfHost(location.host);
const rootOrigin = site && `${location.protocol}//${site.rootHost}`;
const status = document.getElementById('status')!;

async function open(rootOrigin: string): Promise<void> {
  const controlled = controlledByWorker();
  // The worker asks for this file without cookies, by a connection of its own. This opens that connection early. A worker
  // that controls this page would take it for a file of the site.
  if (!navigator.serviceWorker?.controller)
    void fetch('/antway.json', { method: 'HEAD', credentials: 'omit', cache: 'no-store' }).catch(
      () => undefined,
    );
  // The frame loads while the browser installs the worker.
  const loading = loadRoot(rootOrigin);
  await controlled;
  const { welcome, port } = await askRoot(loading, rootOrigin);
  const { records = [] } = welcome ?? {};
  // The settings must arrive also if the browser cannot read a record.
  const giving = records.length > 0 ? give(welcome, records).catch(() => give(welcome)) : give(welcome);
  await giving.catch((error) => {
    // A page of the gateway in another tab may have sent the settings first.
    if (error.code !== 'REFUSED') throw error;
  });
  // Wait for the reply, because a browser drops a pending request when the page that made it is gone.
  const asked = Promise.race([persistSilently(), new Promise((resolve) => setTimeout(resolve, persistMs))]);
  if (welcome && port) await noted(port);
  await asked.catch((error) => console.warn('antway: the browser was not asked to keep this', error));
  if (location.pathname === '/-/site') {
    await readyForText();
    return manage(status, rootOrigin, language);
  }
  if (isRepeated(location.href)) throw new WorkerProblem('NOT_ANSWERED', t.repeated);
  loadOwnUrl();
}

/** Gives the worker the settings, the manifest and the records. */
function give(welcome: Welcome | null, records: readonly Blob[] = []): Promise<unknown> {
  const form = new FormData();
  form.set('settings', JSON.stringify(welcome?.settings ?? null));
  if (welcome?.manifest) form.set('manifest', welcome.manifest);
  for (const record of records) form.append('record', record);
  return request('origin', 'PUT', form);
}

/**
 * Makes the storage persistent without a prompt. Where a prompt is needed, the shell asks when the user pins the site.
 */
async function persistSilently(): Promise<void> {
  // Only Firefox prompts the user, and no standard reports which browsers do.
  if ('mozInnerScreenX' in window) {
    const { state } = await navigator.permissions.query({ name: 'persistent-storage' });
    if (state !== 'granted') return;
  }
  await navigator.storage?.persist?.();
}

/**
 * Tells the gateway's own origin that this origin is ready. Waits for the reply: the frame disappears with this page.
 */
function noted(port: MessagePort): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, rootMs);
    port.onmessage = () => resolve();
    port.postMessage({ type: readyMessage });
  });
}

/** @returns the window of `/-/root` once it has loaded. */
function loadRoot(rootOrigin: string): Promise<Window> {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.src = `${rootOrigin}/-/root`;
  return new Promise((resolve) => {
    frame.onload = () => resolve(frame.contentWindow!);
    document.body.append(frame);
  });
}

/**
 * Asks only now that the worker can take the answer: settings may change at any time.
 * @returns a null `welcome` if the gateway's own origin does not reply. Then the defaults apply.
 */
function askRoot(
  loading: Promise<Window>,
  rootOrigin: string,
): Promise<{ welcome: Welcome | null; port?: MessagePort }> {
  const { port1: port, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, rootMs, { welcome: null });
    port.onmessage = ({ data }) => {
      clearTimeout(timer);
      resolve({ welcome: data, port });
    };
    void loading.then((root) =>
      root.postMessage({ type: helloMessage }, { targetOrigin: rootOrigin, transfer: [port2] }),
    );
  });
}

/**
 * Whether this page loads repeatedly for the same URL because the worker does not respond. A reload by the user can
 * bypass the worker, so it resets the count.
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

let styling: Promise<void> | undefined;

/** Loads the style of this page. Most sites open before there is any text, so the page does not begin with it. */
function styled(): Promise<void> {
  styling ??= new Promise((resolve) => {
    const style = document.createElement('link');
    style.rel = 'stylesheet';
    style.href = '/-/page.css';
    // The text shows without a style, too.
    style.onload = style.onerror = () => resolve();
    setTimeout(resolve, styleMs);
    document.head.append(style);
  });
  return styling;
}

let lastText = 0;

/** Waits until a text can show in its style. @returns false if a newer text came meanwhile. */
async function readyForText(): Promise<boolean> {
  const text = ++lastText;
  await styled();
  return text === lastText;
}

async function show(heading: string, message = ''): Promise<void> {
  if (!(await readyForText())) return;
  status.replaceChildren(element('h1', [heading]));
  if (!message) return;
  status.append(
    element('p', [message]),
    link(t.again, location.href),
    ' ',
    link(t.home, `${rootOrigin ?? ''}/`),
  );
}

if (rootOrigin) {
  const timer = setTimeout(show, quietMs, t.opening);
  open(rootOrigin)
    .finally(() => clearTimeout(timer))
    .catch((error) => show(t.failed, problemText(error)));
} else {
  void show(t.failed, `${location.host} (BAD_ADDRESS)`);
}
