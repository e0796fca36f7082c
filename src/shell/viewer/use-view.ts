import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { typeOfName } from '../../gateway/http/content-type.ts';
import { openInPlace } from '../content-link.tsx';
import { LeaveWatch } from '../leave-watch.ts';
import { useVisible } from '../observable.ts';
import { siteOriginClient } from '../origins/site-origin-client.ts';
import { goToView, hrefOfView, type ViewRoute } from '../route.ts';
import { forgetReloads, isServedByWorker, reloadThroughWorker } from '../served-by-worker.ts';
import { FrameFollower, type Shown } from './frame-follower.ts';
import { type FramePage, isSamePage, readClient, readFrame } from './frame-page.ts';
import { framedPages, planView, type ShownPage } from './view-api.ts';

/** How often the worker is asked whether the page is still the same, in milliseconds. */
const followMs = 3_000;
/** How often the frame is asked for its URL and title, which its scripts can change. In milliseconds. */
const readMs = 1_000;
/** A frame's page becomes known to the worker about when its frame reports the load. In milliseconds. */
const retriesMs = [0, 150, 600];

const own = 'allow-same-origin allow-downloads allow-popups allow-popups-to-escape-sandbox';

/**
 * The sandboxes of frames. Security: never `allow-top-navigation…`. Scripts only for an origin of the site's own: on the
 * gateway's origin, a page with scripts could remove its sandbox and use the shell.
 */
const sandboxes = { shared: own, own: `${own} allow-scripts allow-forms` };

/** WebKit sends navigations of a sandboxed frame without scripts past the worker; see `canSandbox` in the gateway. */
const isWebKit = 'line' in new Error();

export interface ShownView {
  /** Identifies the frame. A new key makes a new frame. */
  key: number;
  src: string;
  sandbox: string;
  /** The encoded path of the content's root, such as `/<address>`. */
  root: string;
  address: string;
  isOwnOrigin: boolean;
  /** As of `ViewPlan`. On a site's own origin, scripts run. */
  hasScripts: boolean;
  isWithoutScripts: boolean;
  /** The current page. Null before the first load. */
  page: ShownPage | null;
  /** False if the frame loaded a page that the worker of this origin does not know. */
  isKnown: boolean;
  /** The peers that gave the gateway's origin chunks of the site before the frame showed it, as of `HandedRecords`. */
  peersBefore: readonly string[] | null;
  /** The path of a PDF that the browser did not show in the frame. */
  pdf: string | null;
  /** The path that the address bar shows. */
  path: string;
}

export type ViewState =
  | { step: 'opening' }
  | { step: 'saved'; path: string; address: string }
  | { step: 'shown'; view: ShownView };

export interface View {
  state: ViewState;
  /** Call this when the frame has loaded a document. */
  loaded(): void;
  /** Opens the current path again in a new frame. */
  reopen(): void;
}

let keys = 0;

/**
 * Opens a path of content in the viewer's frame, and follows what the frame shows.
 * @param route each new object opens its path. @param active whether the gateway runs.
 * @param isBypassed whether a hard reload has loaded this page without the worker.
 * @param frame the viewer's frame.
 */
export function useView(
  route: ViewRoute,
  active: boolean,
  isBypassed: boolean,
  frame: RefObject<HTMLIFrameElement | null>,
): View {
  const visible = useVisible();
  const [state, setState] = useState<ViewState>({ step: 'opening' });
  const [attempt, setAttempt] = useState(0);
  /** The URL that this view has in the history. Null once the view is left. */
  const entry = useRef<string | null>(null);
  /** The path of the current page. The viewer itself writes it to the URL, which must not open it again. */
  const current = useRef<{ path: string; attempt: number } | null>(null);
  const shown = useRef<ShownView | null>(null);
  const opened = useRef<ViewRoute | null>(null);
  const follower = useRef<FrameFollower | null>(null);
  const [leaving] = useState(() => new LeaveWatch());

  function show(view: ShownView) {
    shown.current = view;
    setState({ step: 'shown', view });
  }

  /** Whether the user is still here. The way back changes the URL before this view ends. */
  const isHere = () => entry.current === currentHref();

  /** Browsers limit the rate of such changes, and the page stays usable without them. */
  function setUrl(path: string): void {
    const href = hrefOfView(path);
    if (!isHere() || href === entry.current) return;
    try {
      history.replaceState(history.state, '', href);
      entry.current = href;
    } catch (error) {
      console.warn('antway: the URL does not follow the frame', error);
    }
  }

  useEffect(() => {
    return () => {
      entry.current = null;
    };
  }, []);

  useEffect(() => {
    // The user sees no other way out of this state.
    if (isBypassed && !reloadThroughWorker()) openInPlace(route.view);
  }, [isBypassed]);

  useEffect(() => {
    if (!active) return;
    const isNew = opened.current !== route;
    opened.current = route;
    if (isNew) entry.current = currentHref();
    const path = isNew || !current.current ? route.view : current.current.path;
    if (current.current?.path === path && current.current.attempt === attempt) return;
    const stop = new AbortController();
    const endWatch = leaving.watch();
    // The way back to the page before must open it again, also while this path still opens.
    current.current = { path, attempt: Number.NaN };
    shown.current = null;
    setState({ step: 'opening' });
    const opening = open(path, stop.signal).finally(endWatch);
    opening.then(
      async (opened) => {
        if (stop.signal.aborted || !opened) return;
        current.current = { path: opened.path, attempt };
        setUrl(opened.path);
        if (opened.step === 'saved') return setState(opened);
        follower.current = opened.follower;
        show(opened.view);
      },
      () => {
        if (stop.signal.aborted) return;
        const waitMs = leaving.waitMs;
        if (waitMs > 0) {
          // The page stays if that leads to a download, for example.
          setTimeout(() => !stop.signal.aborted && setAttempt(attempt + 1), waitMs);
          return;
        }
        // The gateway's page has the details of the error, and what the user can do.
        openInPlace(path);
      },
    );
    return () => {
      stop.abort();
      endWatch();
    };
  }, [route, active, attempt]);

  /** Asks which page the frame has loaded. */
  async function loaded() {
    const view = shown.current;
    if (!view) return;
    let isSame = false;
    for (const [i, waitMs] of retriesMs.entries()) {
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const isLast = i === retriesMs.length - 1;
      const pages = await shownIn(view, isLast);
      const found = await follower.current?.look(view.page, pages).catch(() => null);
      // A later load, or the timer, may have found the page.
      if (shown.current?.key !== view.key || shown.current.page?.client !== view.page?.client) return;
      if (found?.kind === 'next') return take(shown.current, found.page);
      if (found?.kind === 'elsewhere') return openAnew(shown.current, found.page);
      // The browser may still know the page that the frame has just left.
      isSame = found?.kind === 'same';
    }
    if (isSame) return;
    const pdf = await pdfOf(view);
    if (shown.current?.key === view.key && shown.current.page?.client === view.page?.client)
      show({ ...shown.current, isKnown: false, pdf });
  }

  /** Opens the page of another address in a new frame or in the window. */
  function openAnew(view: ShownView, { address, path }: ShownPage) {
    if (!isHere()) return;
    // The path may be that of the bar.
    current.current = { path: view.path, attempt: Number.NaN };
    goToView(`/${address}${path}`, true);
  }

  /** Chromium shows no PDF in a sandbox, so no page of the frame is open. */
  async function pdfOf({ page, address, root }: ShownView): Promise<string | null> {
    const newest = await follower.current?.newest(page).catch(() => null);
    if (newest?.address !== address) return null;
    const isPdf = typeOfName(newest.path.replace(/[?].*$/s, '')) === 'application/pdf';
    return isPdf ? root + newest.path : null;
  }

  const originOf = (view: ShownView) => new URL(view.src, location.origin).origin;
  const read = (view: ShownView) => readFrame(frame.current, originOf(view), view.isOwnOrigin);

  /** @param isLast whether a page that the frame seems not to show is better than none. */
  async function shownIn(view: ShownView, isLast: boolean): Promise<Shown | undefined> {
    const [said, client] = await Promise.all([
      read(view),
      view.isOwnOrigin ? readClient(frame.current, originOf(view)) : null,
    ]);
    if (!said) return undefined;
    if (client !== null) return { is: (page) => page.client === client, isStrict: true };
    // A script can change the URL, but there are none on the gateway's origin.
    return {
      is: (page) => (view.isOwnOrigin && page.client === view.page?.client) || isSamePage(said, page),
      isStrict: !view.isOwnOrigin || !isLast,
    };
  }

  /** The frame shows the known page, whose URL or title a script has changed. */
  function follow(view: ShownView, page: ShownPage, { path, hash, title }: FramePage) {
    const full = pathIn(view, path) + hash;
    const changed = { ...page, path, title: title || page.title };
    if (full === view.path && changed.title === page.title) return;
    current.current = { path: full, attempt };
    setUrl(full);
    show({ ...view, page: changed, path: full });
  }

  function take(view: ShownView, page: ShownPage) {
    if (page.address !== view.address) return openAnew(view, page);
    follower.current?.take(page);
    const { hash } = new URL(view.path, location.origin);
    // Workers do not see fragments. The first page has that of the URL.
    const path = pathIn(view, page.path) + (view.page === null ? hash : '');
    current.current = { path, attempt };
    setUrl(path);
    show({ ...view, page, path, isKnown: true, pdf: null });
  }

  const key = state.step === 'shown' ? state.view.key : 0;
  useEffect(() => {
    if (!visible || key === 0) return;
    /** The page may never finish its load, or may have replaced another page. */
    async function poll(isFirst: boolean) {
      const view = shown.current;
      if (!view) return;
      const pages = await shownIn(view, true);
      const found = await follower.current?.poll(view.page, view.isKnown, isFirst, pages).catch(() => null);
      if (!found || isEnded || shown.current?.key !== key || shown.current.page !== view.page) return;
      if (found.kind === 'same') {
        const { path, title } = view.page ?? found.page;
        show({ ...shown.current, page: { ...found.page, path, title }, isKnown: true, pdf: null });
      } else if (found.kind === 'next') take(shown.current, found.page);
      else if (found.kind === 'elsewhere') openAnew(shown.current, found.page);
      else if (found.kind === 'unknown' && view.isKnown) show({ ...shown.current, isKnown: false });
    }
    let isEnded = false;
    // The user comes back to this tab.
    if (shown.current?.page) void poll(true);
    const timer = setInterval(poll, followMs, false);
    return () => {
      isEnded = true;
      clearInterval(timer);
    };
  }, [visible, key]);

  useEffect(() => {
    if (!visible || key === 0) return;
    let isEnded = false;
    const timer = setInterval(async () => {
      const view = shown.current;
      if (!view?.page || !view.isKnown) return;
      const said = await read(view);
      if (!said || isEnded || shown.current !== view) return;
      if (view.isOwnOrigin || isSamePage(said, view.page)) follow(view, view.page, said);
      else void loaded();
    }, readMs);
    return () => {
      isEnded = true;
      clearInterval(timer);
    };
  }, [visible, key]);

  return { state, loaded: () => void loaded(), reopen: () => setAttempt(attempt + 1) };
}

type Opened =
  | { step: 'saved'; path: string; address: string }
  | { step: 'shown'; path: string; follower: FrameFollower; view: ShownView };

/** @returns undefined if the content opens in place of this page. */
async function open(path: string, signal: AbortSignal): Promise<Opened | undefined> {
  if (!isServedByWorker()) {
    if (!reloadThroughWorker()) openInPlace(path);
    return undefined;
  }
  forgetReloads();
  const { plan, path: at } = await planView(path, signal);
  const { address } = plan;
  const root = /^\/[^/?#]*/.exec(at)![0];
  const common = {
    key: ++keys,
    root,
    address,
    page: null,
    isKnown: true,
    peersBefore: null,
    pdf: null,
    path: at,
  };
  if (plan.kind === 'own-origin') {
    const peersBefore = await siteOriginClient.prepare(address);
    const follower = await FrameFollower.start(address, framedPages);
    const view = { ...common, src: plan.url, sandbox: sandboxes.own, isOwnOrigin: true };
    return {
      step: 'shown',
      path: at,
      follower,
      view: { ...view, peersBefore, hasScripts: true, isWithoutScripts: false },
    };
  }
  const { type, isSaved, hasScripts, decision } = plan;
  if (isSaved) return { step: 'saved', path: at, address };
  // Chromium shows no PDF in a sandbox. A trusted site runs its scripts on the origin of the shell.
  const isBare = type.startsWith('application/pdf') || (hasScripts && decision === 'trusted') || isWebKit;
  if (isBare) {
    openInPlace(at);
    return undefined;
  }
  const follower = await FrameFollower.start(null, framedPages);
  const view = { ...common, src: at, sandbox: sandboxes.shared, isOwnOrigin: false, hasScripts };
  return {
    step: 'shown',
    path: at,
    follower,
    view: { ...view, isWithoutScripts: decision === 'restricted' },
  };
}

/**
 * The path of a page in its frame. Records have a slash also for a file at an address, whose URL has none. Sites with own
 * origins are no files.
 */
function pathIn({ root, path, isOwnOrigin }: ShownView, ofPage: string): string {
  const isFile = !isOwnOrigin && ofPage === '/' && path.replace(/#.*$/s, '') === root;
  return isFile ? root : root + ofPage;
}

const currentHref = () => location.pathname + location.search + location.hash;
