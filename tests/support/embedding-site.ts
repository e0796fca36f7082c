import { readFileSync } from 'node:fs';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { listFolder } from '../../src/cli/folder.ts';
import type { Antway } from '../../src/drop-in/antway.ts';
import { fromRoot } from './paths.ts';
import type { PeerProcess } from './peer-process.ts';
import { publish } from './publish.ts';
import { StaticHost, type StaticHostOptions } from './static-host.ts';

export const dropInFolder = fromRoot('dist-drop-in');

/** The content of the sites in `tests/sites/embedding`. */
export interface Published {
  /** The sample site, as a tarchive. */
  site: string;
  /** A picture without a name. */
  picture: string;
  /** A page without a name, with a script in it. */
  page: string;
}

export const pageText = 'A page without scripts';

export async function publishContent(peer: PeerProcess): Promise<Published> {
  const page = `<!doctype html><title>Page</title><p id="text">${pageText}</p><script>document.getElementById("text").textContent = "It ran a script"</script>`;
  const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
  return {
    site: await publish(createTarchive(entries), peer),
    picture: await publish(readFileSync(fromRoot('tests/sites/sample/assets/img/crab.png')), peer),
    page: await publish(new TextEncoder().encode(page), peer),
  };
}

/** Serves a site with the drop-in's files beside its own, where its base is. */
export function serveSite(
  folders: readonly string[],
  published: Published,
  peers: string,
  options: Partial<StaticHostOptions> = {},
): Promise<StaticHost> {
  const { site, picture, page } = published;
  return StaticHost.start({
    folders: [...folders.map((name) => (name.startsWith('/') ? name : fromRoot(name))), dropInFolder],
    replace: { '%SITE%': site, '%PICTURE%': picture, '%PAGE%': page, '%PEERS%': peers },
    ...options,
  });
}

/** The working parts of a page with the drop-in. */
export interface EmbeddingReport {
  isControlled: boolean;
  /** Width in pixels of each picture, by its id; 0 for one that did not load. */
  pictures: Record<string, number>;
  film: number;
  links: string[];
  backgrounds: string[];
  embedded: string | null;
  fetched: { status: number; bytes: number };
  requests: number;
}

/**
 * Waits until content addresses work in the plain site's page, and looks at everything in it. Complete in itself, so
 * that any driver can run its source text in a page: `page.evaluate(lookAtPlainSite, picture)`.
 */
export async function lookAtPlainSite(picture: string): Promise<EmbeddingReport> {
  const { Antway } = globalThis as unknown as { Antway: Antway };
  await Antway.ready;
  const until = async (isDone: () => boolean) => {
    for (let i = 0; i < 300 && !isDone(); i++) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const images = [...document.images];
  await until(() => images.every(({ naturalWidth }) => naturalWidth > 0));
  const film = document.querySelector('video')!;
  await until(() => film.readyState > 0);
  const frame = () => document.querySelector('iframe')?.contentDocument?.getElementById('text');
  await until(() => frame() != null);
  const response = await Antway.fetch(picture);
  const background = (id: string) => getComputedStyle(document.getElementById(id)!).backgroundImage;
  return {
    isControlled: navigator.serviceWorker.controller !== null,
    pictures: Object.fromEntries(images.map(({ id, naturalWidth }) => [id, naturalWidth])),
    film: film.videoWidth,
    links: Array.from(
      document.querySelectorAll('a'),
      ({ href }) => new URL(href).pathname + new URL(href).search,
    ),
    backgrounds: ['drawn', 'styled', 'imported', 'varied'].map(background),
    embedded: frame()?.textContent ?? null,
    fetched: { status: response.status, bytes: (await response.arrayBuffer()).byteLength },
    requests: (await Antway.stats()).requests.total,
  };
}

/** Files of an address that attack the site which shows them. */
export const hostileFiles = {
  'run.js': 'globalThis.isTakenOver = true;',
  'style.css': 'html { --hostile: yes }',
  'own.css': 'p { --own: yes }',
  'index.html': `<!doctype html><link rel="stylesheet" href="own.css"><p id="text">${pageText}</p><a id="on" href="next.html">On</a>
    <script>document.getElementById("text").textContent = "It ran a script"</script><iframe src="/account.html"></iframe>`,
  'next.html': `<!doctype html><p id="text">Next</p>`,
  'refresh.html':
    '<!doctype html><meta http-equiv="refresh" content="0;url=/account.html"><p id="text">Refresh</p>',
} as const;

export const accountText = 'An account';

/** The outcome of the attacks on a site. */
export interface AttackReport {
  script: 'ran' | 'refused';
  isStyled: boolean;
  /** The texts of the embedded page, of the page that its link leads to, and of a site’s page that it frames. */
  embedded: (string | null | undefined)[];
  isEmbeddedStyled: boolean;
  /** The text in place of a page that refreshes to a page of the site. */
  refreshed: string | null | undefined;
}

/** Tries scripts, styles and frames of an address in a site's page. Complete in itself, as `lookAtPlainSite`. */
export async function attackSite(address: string): Promise<AttackReport> {
  const { Antway } = globalThis as unknown as { Antway: Antway };
  await Antway.ready;
  const until = async (isDone: () => unknown) => {
    for (let i = 0; i < 200 && !isDone(); i++) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const load = (element: HTMLElement) =>
    new Promise((resolve) => {
      element.onload = element.onerror = resolve;
      document.head.append(element);
    });
  const url = (name: string) => Antway.url(address, name);
  await load(Object.assign(document.createElement('script'), { src: url('run.js') }));
  await load(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: url('style.css') }));
  const embed = async (name: string) => {
    const container = document.createElement('div');
    container.dataset.antEmbed = `ant://${address}/${name}`;
    document.body.append(container);
    await until(() => container.firstElementChild);
    return container;
  };
  const container = await embed('');
  const inside = () => container.querySelector('iframe')?.contentDocument;
  const text = () => inside()?.getElementById('text');
  await until(() => text() && inside()!.readyState === 'complete');
  const first = text()?.textContent;
  const isEmbeddedStyled = text()
    ? getComputedStyle(text()!).getPropertyValue('--own').trim() === 'yes'
    : false;
  let framed: string | null | undefined;
  try {
    framed = inside()?.querySelector('iframe')?.contentDocument?.body?.textContent;
  } catch {
    // An error page of the browser.
  }
  inside()?.getElementById('on')?.click();
  await until(() => text()?.textContent !== first && text());
  const next = text()?.textContent;
  const refreshing = await embed('refresh.html');
  const refreshed = () =>
    refreshing.querySelector('iframe')?.contentDocument?.body?.textContent ?? refreshing.textContent;
  await until(() => refreshed()?.trim());
  // Time for a refresh to lead elsewhere.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return {
    script: 'isTakenOver' in globalThis ? 'ran' : 'refused',
    isStyled: getComputedStyle(document.documentElement).getPropertyValue('--hostile').trim() === 'yes',
    embedded: [first, next, framed],
    isEmbeddedStyled,
    refreshed: refreshed()?.trim(),
  };
}
