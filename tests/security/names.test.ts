import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import {
  expect,
  type HostConfig,
  openShellIn,
  openTitled,
  sceneOfFile,
  stopWorkers,
  test,
} from '../support/chromium.ts';
import { openBySearch, region, setSettings, settingsOf } from '../support/names-screen.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { PointerOwner } from '../support/pointers.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { untilViewed } from '../support/viewer.ts';
import { attack } from './attack.ts';
import { Outside } from './hostile-site.ts';

const lists = 'Lists of names';
const links = 'Links with names';
const probes = 'The user’s names';

const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';
const page = (title: string, body = '') => `<!doctype html><title>${title}</title>${body}`;

interface Scene {
  peer: PeerProcess;
  context: BrowserContext;
  /** The site that the user calls `~bank`. */
  bank: string;
  /** A site that the user would confuse with it. */
  trap: string;
  /** Starts the host of a gateway that asks this peer. */
  start(config: Partial<HostConfig>): Promise<PeerProcess>;
  /** A host that names a site `start`, and has the list `club`. */
  club(): Promise<PeerProcess>;
  /** A host without origins for sites, which trusts the attacker's site, and has another list `club`. */
  shared(): Promise<PeerProcess>;
  /** A site whose page has the title `Attacker`. */
  attacker: string;
}

const scene = sceneOfFile<Scene>(async ({ startPeer, startHost, context }) => {
  const peer = await startPeer();
  const site = async (files: Record<string, string>) => publish(await makeTarchive(files), peer);
  const bank = await site({ 'index.html': page('Bank'), 'p.svg': picture });
  const trap = await site({ 'index.html': page('Trap'), 'p.svg': picture });
  const attacker = await site({ 'index.html': page('Attacker') });
  const start = (config: Partial<HostConfig>) => startHost({ peers: [peer.url], ...config });
  let club: Promise<PeerProcess> | undefined;
  let shared: Promise<PeerProcess> | undefined;
  const startClub = async () =>
    start({ names: { start: trap }, nameLists: { club: await listAt(peer, { shop: trap }) } });
  const startShared = async () => {
    const nameLists = { club: await listAt(peer, { shop: bank }) };
    return start({ isolation: 'path', trusted: [attacker], nameLists });
  };
  return {
    ...{ peer, context, bank, trap, attacker, start },
    club: () => (club ??= startClub()),
    shared: () => (shared ??= startShared()),
  };
});

let peer: PeerProcess;
let context: BrowserContext;
/** Origin of the gateway, without a slash at its end. */
let root: string;
let bank: string;
let trap: string;

// Each attack opens several pages.
test.describe.configure({ timeout: 180_000 });

test.beforeEach(() => {
  ({ peer, context, bank, trap } = scene());
});

async function publishSite(files: Record<string, string>): Promise<string> {
  return publish(await makeTarchive(files), peer);
}

/** Publishes a list of names. */
const listAt = (peer: PeerProcess, names: object, title?: string) =>
  publish(Buffer.from(JSON.stringify({ antwayNames: 1, ...(title && { title }), names })), peer);

const listOf = (names: object, title?: string) => listAt(peer, names, title);

/** Gives the user of a gateway the name `~bank`. @returns the start page. */
async function open(host: PeerProcess): Promise<Page> {
  root = `http://antway.localhost:${new URL(host.url).port}`;
  const shell = await openShellIn(context, root);
  await setSettings(shell, { names: { bank } });
  return shell;
}

const note = (shell: Page) => shell.locator('#address-note');
const listed = (shell: Page, label: string) =>
  region(shell, `Names of the list ${label}`).getByRole('listitem');
const stateOf = (shell: Page, label: string) =>
  region(shell, 'Lists of names').getByRole('listitem').filter({ hasText: label });

/** Opens a URL of the gateway as a link from another program does. */
async function follow(shell: Page, path: string): Promise<void> {
  // A page at the same URL would only scroll.
  await shell.goto('about:blank');
  await shell.goto(root + path);
}

/** Reads all lists again, in a worker that has only its storage. */
async function readAgain(shell: Page): Promise<void> {
  await shell.goto(`${root}/#settings`);
  await stopWorkers(shell);
  await region(shell, 'Lists of names').getByRole('button', { name: 'Read the lists again' }).click();
  await expect(region(shell, 'Lists of names').getByRole('status')).toHaveText('The lists were read.', {
    timeout: 60_000,
  });
}

attack(
  lists,
  'a list gives the user’s name, the host’s name and names that look like them to another address',
  'The user’s name opens the user’s site. Each other name opens nothing by itself, and shows all its meanings.',
  async () => {
    const alike = ['Bank', 'Bаnk', 'BANK', 'ваnк', 'Ƅank', 'b-ank'];
    const list = await listOf({
      ...{ bank: trap, start: trap },
      ...Object.fromEntries(alike.map((name) => [name, trap])),
    });
    const cyrillic = await listOf({ сосо: trap });
    const greek = await listOf({ ΚΙΝΟ: trap });
    const nameLists = { evil: list, two: cyrillic, three: greek };
    const shell = await open(await scene().start({ names: { start: bank }, nameLists }));
    await setSettings(shell, { names: { bank, coco: bank, Kino: bank } });
    // The first name of its look stays, with a warning. The others are left out.
    await expect(listed(shell, 'evil')).toHaveText([
      /^bank@evil.*another address than ~bank/,
      /^start@evil.*another address than start/,
    ]);
    await expect(listed(shell, 'two')).toHaveText(/^сосо@two.*another address than ~coco/);
    await expect(listed(shell, 'three')).toHaveText(/^ΚΙΝΟ@three.*another address than ~Kino/);
    await expect(region(shell, 'Names').getByRole('listitem')).toHaveText([
      /^~bank.*another address than bank@evil/,
      /^~coco.*another address than сосо@two/,
      /^~Kino.*another address than ΚΙΝΟ@three/,
      /^start.*another address than start@evil/,
    ]);
    for (const [text, meanings] of [
      ['start', 'start, start@evil'],
      ['сосо', 'сосо@two, ~coco'],
      ['ΚΙΝΟ', 'ΚΙΝΟ@three, ~Kino'],
    ] as const) {
      await openBySearch(shell, text);
      await expect(note(shell)).toContainText('several meanings');
      await expect(note(shell)).toContainText(meanings);
    }
    for (const name of alike) {
      await openBySearch(shell, name);
      await expect(note(shell)).toContainText('neither');
    }
    for (const path of ['/~bank/', `/#open=${encodeURIComponent('ant://bank')}`]) {
      await follow(shell, path);
      await untilViewed(shell, new RegExp(`^/${bank}/?$`));
    }
  },
  { tag: '@full' },
);

attack(
  lists,
  'a list has names with markup, paths, addresses, controls and marks of direction, and such a title',
  'They are left out and counted. The title is text in one line.',
  async () => {
    const bad = [
      ...[
        '<img src=x onerror=alert(1)>',
        '../../-/settings',
        '..',
        '.',
        '',
        'a/b',
        'a%2fb',
        'a b',
        'a?b',
        'a#b',
      ],
      ...['\u202eknab', 'ba\u200bnk', 'bank\u0000', '\u2066bank', 'a@b', '~bank', 'javascript:alert(1)'],
      ...[bank, bank.slice(0, 20), Address.fromHex(bank).base32, 'constructor', 'ᴘᴀʏ', 'pаypal', 'ｂank'],
    ];
    const names = { fine: trap, ...Object.fromEntries(bad.map((name) => [name, trap])) };
    const title = '<img src=x onerror="document.title=1">\u202e\n\u0007 the title';
    const shell = await open(await scene().start({ nameLists: { evil: await listOf(names, title) } }));
    await expect(listed(shell, 'evil')).toHaveText(['fine@evil']);
    await shell.goto(`${root}/#settings`);
    const state = stateOf(shell, 'evil');
    await expect(state).toContainText(`${bad.length} names are left out`);
    await expect(state).toContainText('<img src=x onerror="document.title=1"> the title · 1 name');
    expect(await state.textContent()).not.toMatch(/\p{Cc}|\u202e/u);
    await expect(state.locator('img')).toHaveCount(0);
    // An address is still an address.
    await shell.goto(`${root}/`);
    await openBySearch(shell, bank);
    await untilViewed(shell, new RegExp(`^/${bank}/?$`));
  },
);

attack(
  lists,
  'lists with the most and the longest names, too many names, too many bytes and deep nesting',
  'The largest list is shown within the window. The others are refused, and change no other name.',
  async () => {
    // Three of the letters from a to h tell the names apart.
    const nameOf = (i: number) => [i >> 6, i >> 3, i].map((digit) => 'abcdefgh'[digit & 7]).join('');
    const named = (count: number, length: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [nameOf(i).padEnd(length, 'W'), trap]));
    const full = await listOf(named(300, 100), 'W'.repeat(200));
    const publishText = (text: string) => publish(Buffer.from(text), peer);
    const nameLists = {
      full,
      many: await listOf(named(501, 4)),
      heavy: await publishText(`{"antwayNames":1,"names":{}}${' '.repeat(limits.listBytes)}`),
      deep: await publishText('['.repeat(30_000)),
    };
    const shell = await open(await scene().start({ nameLists }));
    await shell.setViewportSize({ width: 390, height: 800 });
    await expect(listed(shell, 'full')).toHaveCount(300);
    const overflow = () => shell.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await shell.goto(`${root}/#settings`);
    await expect(stateOf(shell, 'full')).toContainText('300 names');
    await expect(stateOf(shell, 'many')).toContainText('TOO_LARGE');
    await expect(stateOf(shell, 'heavy')).toContainText('TOO_LARGE');
    await expect(stateOf(shell, 'deep')).toContainText('UNSUPPORTED');
    expect(await overflow()).toBeLessThanOrEqual(0);
    await follow(shell, '/~bank/');
    await untilViewed(shell, `/${bank}/`);
  },
  { tag: '@full' },
);

attack(
  lists,
  'a list at pointers that lead to each other, and a list whose names lead to itself and to such pointers',
  'The list is refused, the name is an error, and all other names open.',
  async () => {
    const [one, other, itself] = [new PointerOwner(41), new PointerOwner(42), new PointerOwner(43)];
    peer.putPointer(one.address.hex, one.sign(1n, other.address, 'pointer'));
    peer.putPointer(other.address.hex, other.sign(1n, one.address, 'pointer'));
    const names = { itself: itself.address.hex, loop: one.address.hex, fine: trap };
    const list = await listOf(names);
    peer.putPointer(itself.address.hex, itself.sign(1n, Address.fromHex(list)));
    const shell = await open(
      await scene().start({
        nameLists: { loop: one.address.hex, evil: itself.address.hex },
      }),
    );
    await expect(listed(shell, 'evil')).toHaveText(['itself@evil', 'loop@evil', 'fine@evil']);
    await shell.goto(`${root}/#settings`);
    await expect(stateOf(shell, 'loop').first()).toContainText('TOO_LARGE');
    await follow(shell, '/~loop@evil/');
    await expect(shell.locator('code').first()).toHaveText('TOO_LARGE');
    expect(new URL(shell.url()).pathname).toBe(`/${one.address.hex}/`);
    await follow(shell, '/~itself@evil');
    await untilViewed(shell, `/${itself.address.hex}`);
    await follow(shell, '/~fine@evil/');
    await untilViewed(shell, `/${trap}/`);
  },
  { tag: '@full' },
);

attack(
  lists,
  'a peer serves an older state of a list’s pointer, and a state that another owner has signed',
  'The names stay those of the newest state that the browser has seen.',
  async () => {
    const [owner, thief] = [new PointerOwner(44), new PointerOwner(45)];
    const before = Address.fromHex(await listOf({ shop: trap }));
    const after = Address.fromHex(await listOf({ shop: bank }));
    const forged = Address.fromHex(await listOf({ shop: trap, more: trap }));
    const serve = (record: Uint8Array) => peer.putPointer(owner.address.hex, record);
    serve(owner.sign(1n, before));
    const shell = await open(await scene().start({ nameLists: { club: owner.address.hex } }));
    await expect(listed(shell, 'club')).toHaveText(['shop@club']);
    await follow(shell, '/~shop@club/');
    await untilViewed(shell, `/${trap}/`);
    serve(owner.sign(2n, after));
    await readAgain(shell);
    const opens = async (address: string) => {
      await follow(shell, '/~shop@club/');
      await untilViewed(shell, `/${address}/`);
      await follow(shell, '/');
      await expect(listed(shell, 'club')).toHaveText(['shop@club']);
    };
    await opens(bank);

    const another = thief.sign(3n, forged);
    const grafted = Uint8Array.from(owner.sign(2n, after));
    grafted.set(thief.sign(3n, forged).subarray(1953), 1953);
    for (const record of [owner.sign(1n, before), another, grafted]) {
      serve(record);
      await readAgain(shell);
      await opens(bank);
    }
  },
  { tag: '@full' },
);

attack(
  links,
  'a page leads to `/~…` with dots, escaped slashes, controls, marks of direction, schemes and broken escapes',
  'Only a path within the site of a name opens. Everything else opens nothing, and is shown as text.',
  async () => {
    const shell = await open(await scene().club());
    const inUrls = [
      ...[
        '/~',
        '/~../',
        '/~..%2f..%2f-/settings',
        '/~bank%2f..%2f..%2f-/settings',
        '/~bank%00/',
        '/~bank%ff/',
      ],
      ...['/~%E2%80%AEknab/', `/~${'b'.repeat(3_000)}/`],
    ];
    const inLinks = [
      ...[
        '/~/',
        '/~~bank/',
        '/~.%2e/',
        '/~%2e%2e/',
        '/~%2e%2e%2f-%2fsettings',
        '/~bank%2Fp.svg',
        '/~bank%5c..%5cx',
      ],
      ...[
        '/~bank%0a/',
        '/~bank%E2%80%8B/',
        '/~%F0%9D%90%9Bank/',
        '/~b%D0%B0nk/',
        '/~bank%20/',
        '/~bank%23x/',
      ],
      ...['/~@', '/~bank@', '/~bank@@x/', '/~@start', '/~javascript:alert(1)', '/~https:%2f%2fevil.example/'],
      ...['/~start/', `/~${bank}/`, '/~constructor/', '/~__proto__/', '/~unknown/'],
    ];
    const input = shell.getByRole('combobox', { name: 'Search or open an address' });
    // The tests of names and addresses in Node read all of them.
    const every = process.env.ANTWAY_TIER === 'default' ? 3 : 1;
    for (const path of [...inUrls, ...inLinks].filter((_, i) => i % every === 0)) {
      const text = `ant:/${path}`;
      if (inUrls.includes(path)) await follow(shell, path);
      // The page that is open takes the text like that of a URL.
      else await shell.evaluate((text) => location.assign(`/#open=${encodeURIComponent(text)}`), text);
      await expect(input).toHaveValue(text);
      await expect(note(shell), path).toHaveClass(/note-problem/);
      expect(shell.url(), path).toBe(`${root}/`);
      expect(await note(shell).textContent(), path).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
    }
    for (const rest of ['/p.svg?a#b', '//evil.example/', `/${trap}/`]) {
      await follow(shell, `/%7Ebank${rest}`);
      await untilViewed(shell, `/${bank}${rest}`);
    }
    const escaped = '/..%2f..%2f-%2fsettings';
    await follow(shell, `/~bank${escaped}`);
    // An error of this kind replaces the viewer.
    await expect(shell.locator('code').first()).toHaveText('BAD_ADDRESS');
    expect(shell.url()).toBe(`${root}/${bank}${escaped}`);
    // Before a page sees them, browsers resolve such dots in a URL. In a link they are text.
    for (const text of [
      'ant://~bank/../../-/settings',
      'ant://~bank/%2e%2e/-/settings',
      'ant://~bank/..\\-\\x',
    ]) {
      await follow(shell, `/#open=${encodeURIComponent(text)}`);
      await expect(note(shell), text).toContainText('leads out');
      expect(new URL(shell.url()).hash, text).toBe('');
    }
  },
);

/** The observations of a page of another origin about a URL, without measuring time. */
function observed(tab: Page, url: string): Promise<unknown> {
  return tab.evaluate(async (url) => {
    const load = (name: string, attributes: Record<string, string>) =>
      new Promise((resolve) => {
        const element = Object.assign(document.createElement(name), {
          onload: () => resolve(`${name} loads`),
          onerror: () => resolve(`${name} fails`),
        });
        for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
        document.body.append(element);
      });
    const elements = [
      await load('img', { src: url }),
      await load('script', { src: url }),
      await load('link', { rel: 'stylesheet', href: url }),
      await load('iframe', { src: url }),
      await load('object', { data: url }),
      await load('video', { src: url }).catch(String),
    ];
    // A page may observe several URLs at once.
    const own = [...document.querySelectorAll('iframe')].filter((frame) => frame.getAttribute('src') === url);
    const frames = own.map(({ contentWindow, contentDocument }) => [
      contentWindow!.length,
      contentDocument === null,
    ]);
    const answers = [];
    for (const options of [
      {},
      { mode: 'no-cors' },
      { credentials: 'include' },
      { redirect: 'manual' },
    ] as const) {
      answers.push(
        await fetch(url, options).then(
          ({ status, type, redirected }) => [status, type, redirected],
          () => 'fails',
        ),
      );
    }
    const timings = performance
      .getEntriesByName(url)
      .map((entry) => entry as PerformanceResourceTiming & { responseStatus: number; contentType: string })
      .map(({ initiatorType, transferSize, decodedBodySize, responseStatus, contentType }) =>
        [initiatorType, transferSize, decodedBodySize, responseStatus, contentType].join(),
      );
    return { elements, frames, answers, timings: timings.sort() };
  }, url);
}

attack(
  probes,
  'another site loads `/~name/` as picture, script, style, frame, object, film and data, for a name that exists and one that does not',
  'All results are equal.',
  async () => {
    await open(await scene().club());
    await using outside = await Outside.start();
    const results = [];
    for (const name of ['bank', 'none', 'shop@club', 'none@club']) {
      const tab = await openTitled(context, outside.url, 'Outside');
      results.push(await observed(tab, `${root}/~${name}/p.svg`));
      await tab.close();
    }
    for (const result of results) expect(result).toEqual(results[0]);
    // A page with content would have been seen.
    const tab = await openTitled(context, outside.url, 'Outside');
    expect(await observed(tab, `${outside.url}/some`)).not.toEqual(results[0]);
  },
);

attack(
  probes,
  'another site opens `/~name/` in a window and counts its frames, and leads its own window there and counts the history after the way back',
  'Both are equal for a name that exists and one that does not.',
  async () => {
    await open(await scene().club());
    await using outside = await Outside.start();
    const open_ = (text: string) => `${root}/#open=${encodeURIComponent(text)}`;
    const until = (tab: Page, address: string | null) =>
      address
        ? untilViewed(tab, new RegExp(`^/${address}/?`))
        : expect(note(tab)).toHaveClass(/note-problem/);
    const cases: [url: string, address: string | null][] = [
      [`${root}/~bank/`, bank],
      [`${root}/~none/`, null],
      [`${root}/~shop@club/`, trap],
      [`${root}/~none@club/`, null],
      [open_('ant://~bank'), bank],
      [open_('bank'), bank],
      [open_('none'), null],
    ];
    const seen = [];
    for (const [url, address] of cases) {
      const tab = await openTitled(context, outside.url, 'Outside');
      const opening = context.waitForEvent('page');
      const popup = await tab.evaluateHandle((url) => window.open(url), url);
      const opened = await opening;
      await until(opened, address);
      const view = await popup.evaluate((popup) => [popup!.closed, popup!.length]);
      expect(await opened.evaluate(() => window.opener)).toBeNull();
      await opened.close();

      await tab.evaluate((url) => location.assign(url), url);
      await until(tab, address);
      await tab.goBack();
      await expect(tab).toHaveTitle('Outside');
      seen.push([...view, await tab.evaluate(() => history.length)]);
      await tab.close();
    }
    const [, unknown] = seen;
    expect(unknown).toEqual([true, 0, expect.any(Number)]);
    expect(seen).toEqual(seen.map(() => unknown));
  },
  { tag: '@full' },
);

attack(
  probes,
  'a site with scripts writes, reads and guesses the user’s names by `fetch`, links, frames, databases, channels and messages, in a tab and in the viewer',
  'The names stay. The site reads none, and a name that exists gives what another gives.',
  async () => {
    const script = `<script>
      const texts = (name) => ['ant://~' + name + '/p.svg', '/~' + name + '/p.svg', gateway + '/~' + name + '/p.svg'];
      const gateway = location.origin.replace(/\\/\\/[a-z2-7]{52}\\./, '//');
      const settled = (promise) => promise.then(String, (error) => 'fails: ' + error.name);
      // An error of this site repeats its own path.
      const answer = (url, options, name) => settled(fetch(url, options).then(async (answer) => {
        const body = answer.type === 'opaque' ? '' : await answer.text();
        return [answer.status, answer.type, body.replaceAll(name, '').length].join();
      }));
      const shown = (element) => new Promise((resolve) => {
        element.onload = () => resolve('loads');
        element.onerror = () => resolve('fails');
        document.body.append(element);
      });
      const guess = async (name) => {
        const seen = [];
        for (const url of texts(name)) {
          seen.push(await answer(url, {}, name), await answer(url, { mode: 'no-cors' }, name));
          seen.push(await shown(Object.assign(new Image(), { src: url })));
          // A frame with a scheme that the browser does not know never loads.
          if (url.startsWith('ant:')) continue;
          const frame = Object.assign(document.createElement('iframe'), { src: url });
          seen.push(await shown(frame), frame.contentWindow.length);
        }
        const links = Array.from(document.querySelectorAll('a[class="' + name + '"]'), ({ href }) => href.replaceAll(name, ''));
        return JSON.stringify([seen, links]);
      };
      const write = async () => {
        const body = JSON.stringify({ names: { bank: '${'ab'.repeat(32)}' } });
        const options = { method: 'PUT', body };
        const seen = [];
        for (const path of ['/-/settings', '/-/config', '/-/lists?address=' + LIST]) {
          for (const base of ['', gateway]) {
            seen.push(await answer(base + path), await answer(base + path, { mode: 'no-cors' }));
            seen.push(await answer(base + path, options), await answer(base + path, { ...options, mode: 'no-cors' }));
            seen.push(await answer(base + path, { ...options, method: 'POST', mode: 'no-cors', credentials: 'include' }));
          }
        }
        for (const name of ['antway-name-lists', 'antway-settings', 'antway']) {
          new BroadcastChannel(name).postMessage({ type: 'settings', names: { bank: '' } });
        }
        for (const message of [{ type: 'settings' }, { type: 'antway:names' }, JSON.parse(body)]) {
          parent.postMessage(message, '*');
        }
        const databases = await indexedDB.databases();
        return JSON.stringify([seen, databases.map(({ name }) => name), document.referrer, window.name, location.ancestorOrigins.length]);
      };
      (async () => {
        const results = { known: await guess('bank'), unknown: await guess('none'), list: await guess('shop@club'), write: await write() };
        window.results = results;
        document.title = 'Done';
      })();
    </script>`;
    const list = await listOf({ shop: trap });
    const anchors = ['bank', 'none', 'shop@club']
      .map((name) => `<a class="${name}" href="ant://~${name}/p.svg">a</a><img src="ant://~${name}/p.svg">`)
      .join('');
    const site = await publishSite({
      'index.html': page('Attacker', anchors + script.replace('LIST', `'${list}'`)),
    });
    const shell = await open(await scene().club());
    await expect(listed(shell, 'club')).toHaveText(['shop@club']);
    const settings = await settingsOf(shell);
    expect(settings).toEqual({ names: { bank } });
    const origin = root.replace('//', `//${Address.fromHex(site).base32}.`);
    const tab = await context.newPage();
    await tab.goto(`${root}/${site}/`);
    await expect(tab).toHaveTitle('Done', { timeout: 60_000 });
    await shell.goto(`${root}/#view=${site}/`);
    await untilViewed(shell, `/${site}/`);
    const frame = () => shell.frames().find((each) => each.url() === `${origin}/`);
    await expect.poll(() => frame()?.title(), { timeout: 60_000 }).toBe('Done');
    for (const where of [tab, frame()!]) {
      const { known, unknown, list, write } = await where.evaluate(
        () => (window as unknown as { results: Record<string, string> }).results,
      );
      expect(known).toBe(unknown);
      expect(list).toBe(unknown);
      expect(JSON.parse(known!)[0].slice(0, 3)).toEqual(['fails: TypeError', 'fails: TypeError', 'fails']);
      expect(write).not.toContain(bank);
      expect(write).not.toMatch(/bank|shop|club|antway-names/);
    }
    expect(await settingsOf(shell)).toEqual(settings);
    await follow(shell, '/~bank/');
    await untilViewed(shell, `/${bank}/`);
  },
  { tag: '@full' },
);

attack(
  probes,
  'a trusted page on the gateway’s own origin reads and writes names by `/-/settings` and `/-/lists`, and loads `/~name/`',
  'Every request to the endpoints is refused, and a name that exists gives what another gives.',
  async () => {
    const list = await listOf({ shop: bank });
    const { attacker, shared } = scene();
    root = (await shared()).url;
    const shell = await openShellIn(context, root);
    await setSettings(shell, { names: { bank } });
    const tab = await openTitled(context, `${root}/${attacker}/`, 'Attacker');
    const refused = await tab.evaluate(
      async ([list, trap]) => {
        const body = JSON.stringify({ names: { bank: trap } });
        const requests: [string, RequestInit?][] = [
          ['/-/settings'],
          ['/-/settings', { method: 'PUT', body }],
          ['/-/config'],
          [`/-/lists?address=${list}`],
        ];
        return Promise.all(requests.map(async ([url, options]) => (await fetch(url, options)).status));
      },
      [list, trap] as const,
    );
    expect(refused).toEqual([403, 403, 403, 403]);
    expect(await settingsOf(shell)).toEqual({ names: { bank } });
    const seen = await Promise.all(
      ['bank', 'none', 'shop@club'].map((name) => observed(tab, `/~${name}/p.svg`)),
    );
    for (const each of seen) expect(each).toEqual(seen[0]);
  },
);

attack(
  lists,
  'a trusted page on the gateway’s own origin writes lists of wrong forms, and with names that look like others, into the browser’s storage',
  'A list with a wrong form is read anew, and all screens work.',
  async () => {
    const list = await listOf({ shop: bank });
    const { attacker, shared } = scene();
    root = (await shared()).url;
    const shell = await openShellIn(context, root);
    await expect(listed(shell, 'club')).toHaveText(['shop@club']);
    const tab = await openTitled(context, `${root}/${attacker}/`, 'Attacker');
    const stored = {
      title: '',
      names: { shop: trap },
      left: 0,
      readAt: 0,
      triedAt: Date.now(),
      problem: null,
    };
    const forged: unknown[] = [
      null,
      'text',
      { ...stored, names: { shop: 5 } },
      { ...stored, names: { shop: '/evil.example' } },
      { ...stored, names: { 'sh\u202eop': trap } },
      { ...stored, names: undefined },
      { ...stored, triedAt: Number.NaN },
      { ...stored, problem: {} },
    ];
    for (const value of forged) {
      await tab.evaluate(
        async ([list, value]) => {
          const opening = indexedDB.open('antway-names');
          await new Promise((resolve) => {
            opening.onsuccess = resolve;
          });
          const transaction = opening.result.transaction('lists', 'readwrite');
          transaction.objectStore('lists').put(value, list as string);
          await new Promise((resolve) => {
            transaction.oncomplete = resolve;
          });
          opening.result.close();
        },
        [list, value],
      );
      await follow(shell, '/#settings');
      await expect(stateOf(shell, 'club')).toContainText('1 name');
      await follow(shell, '/');
      await expect(listed(shell, 'club')).toHaveText(['shop@club']);
      await follow(shell, '/~shop@club/');
      await untilViewed(shell, `/${bank}/`);
    }
  },
  { tag: '@full' },
);
