import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import {
  expect,
  Gateway,
  openWithoutScripts,
  openWorkerIn,
  sceneOfFile,
  stopWorkers,
  test,
  trustSite,
} from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { PointerOwner } from '../support/pointers.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';

const group = 'Trust in path mode';
/** Then some attacks make fewer rounds. */
const isDefaultTier = process.env.ANTWAY_TIER === 'default';
const steal = `<!doctype html><title>quiet</title><script>document.title = 'ran'</script>`;

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  return { peer, gateway: await openWorker({ peers: [peer.url] }) };
});

let peer: PeerProcess;
let gateway: Gateway;
let context: BrowserContext;
/** A site that wants to be trusted. */
let site: string;
/** The decisions at the start of the test. */
let before: Record<string, string>;
let sites = 0;

test.beforeEach(async () => {
  ({ peer, gateway } = scene());
  context = gateway.shell.context();
  site = await publishPage(steal);
  before = await allDecisions();
});

/** Publishes a site that differs from all others, so the user has decided nothing on it. */
async function publishPage(html: string): Promise<string> {
  return publish(await makeTarchive({ 'index.html': html, 'number.txt': String(++sites) }), peer);
}

/** Has the test use the gateway in another profile. A clock that a test has installed stays in its context. */
async function useProfile(profile: BrowserContext): Promise<void> {
  context = profile;
  gateway = new Gateway(gateway.host, await openWorkerIn(profile, gateway.url));
  before = await allDecisions();
}

async function allDecisions(): Promise<Record<string, string>> {
  const list = JSON.parse((await gateway.fetch('/-/trust')).text) as { address: string; decision: string }[];
  return Object.fromEntries(list.map(({ address, decision }) => [address, decision]));
}

/** The decisions that were made since the start of the test. */
async function decisions(): Promise<Record<string, string>> {
  const all = Object.entries(await allDecisions());
  return Object.fromEntries(all.filter(([address, decision]) => before[address] !== decision));
}

async function decide(address: string, decision: string): Promise<void> {
  const body = JSON.stringify({ address, decision });
  expect((await gateway.fetch('/-/trust', { method: 'POST', body })).status).toBe(204);
}

/** Opens the question in a new tab. */
async function ask(path = `/${site}/`): Promise<Page> {
  const page = await context.newPage();
  await page.goto(gateway.url + path);
  await expect(page.getByRole('button', { name: 'Open without scripts' })).toBeVisible();
  return page;
}

const trustButton = (page: Page) => page.getByRole('button', { name: 'Trust this site' });
const yes = (page: Page) => page.getByRole('button', { name: /^Yes, / });
const tokenOf = (page: Page) => page.locator('input[name=token]').inputValue();

/** Sends a form to `/-/trust`, as any page can. @returns the answer’s status. */
async function sendForm(page: Page, fields: Record<string, string>): Promise<number> {
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url().endsWith('/-/trust')),
    page.evaluate(
      ([action, fields]) => {
        const form = document.createElement('form');
        Object.assign(form, { method: 'post', action });
        for (const [name, value] of Object.entries(fields)) {
          form.append(Object.assign(document.createElement('input'), { name, value }));
        }
        document.body.append(form);
        HTMLFormElement.prototype.submit.call(form);
      },
      [`${gateway.url}/-/trust`, fields] as const,
    ),
  ]);
  await page.waitForLoadState();
  return answer.status();
}

attack(
  group,
  'the user is asked for “Tab, then Space”, again and again',
  'the first step only leads to a second one, where the same keys do something harmless',
  async () => {
    const page = await ask();
    await expect(trustButton(page)).toBeEnabled();
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      // The second step arms, too, before the next keys.
      if (i === 0) {
        await expect(yes(page)).toBeEnabled();
        await expect(page.getByRole('button', { name: 'Open without scripts' })).toBeFocused();
      }
    }
    expect(Object.values(await decisions())).not.toContain('trusted');
  },
);

attack(
  group,
  'the user is asked to press Enter or Space in a window that opens just then',
  'the safe answer has the focus',
  async () => {
    for (const key of ['Enter', 'Space']) {
      const page = await ask();
      await expect(page.getByRole('button', { name: 'Open without scripts' })).toBeFocused();
      await Promise.all([page.waitForURL(`${gateway.url}/${site}/`), page.keyboard.press(key)]);
      await expect(page).toHaveTitle('quiet');
      await page.close();
      expect(await decisions()).toEqual({ [site]: 'restricted' });
      await gateway.fetch(`/-/trust?address=${site}`, { method: 'DELETE' });
    }
  },
);

attack(
  group,
  'a click or key hits the button that trusts right after the page has loaded',
  'the button does nothing before the page was visible and focused for a second',
  async ({ context: own }) => {
    await useProfile(own);
    const page = await context.newPage();
    // The clock of the page stands still: a second cannot be over.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.goto(`${gateway.url}/${site}/`);
    await expect(trustButton(page)).toBeDisabled();
    await trustButton(page).click({ force: true });
    await trustButton(page).dblclick({ force: true });
    await trustButton(page).focus();
    await page.keyboard.press('Enter');
    await page.clock.runFor(900);
    await page.keyboard.press('Space');
    expect(page.url()).toBe(`${gateway.url}/${site}/`);
    await expect(trustButton(page)).toBeDisabled();
    await page.clock.runFor(200);
    await expect(trustButton(page)).toBeEnabled();
    await trustButton(page).click();
    await expect(yes(page)).toBeDisabled();
    await yes(page).click({ force: true });
    expect(await decisions()).toEqual({});
  },
);

attack(
  group,
  'the question is in a window behind, or covered by another one, and gets the focus at the moment of a click',
  'each loss of focus or visibility disarms the button for another second',
  async ({ context: own }) => {
    await useProfile(own);
    const page = await context.newPage();
    // Browsers under test control report the focus for every page.
    await page.addInitScript(() => {
      let hasFocus = false;
      document.hasFocus = () => hasFocus;
      Object.assign(globalThis, {
        setFocus: (value: boolean) => {
          hasFocus = value;
          dispatchEvent(new Event(value ? 'focus' : 'blur'));
        },
      });
    });
    const setFocus = (value: boolean) =>
      page.evaluate((value) => (globalThis as unknown as FocusWindow).setFocus(value), value);
    await page.clock.install();
    await page.goto(`${gateway.url}/${site}/`);
    await page.clock.runFor(5_000);
    await expect(trustButton(page)).toBeDisabled();
    await setFocus(true);
    await page.clock.runFor(600);
    await setFocus(false);
    await setFocus(true);
    await page.clock.runFor(600);
    await expect(trustButton(page)).toBeDisabled();
    await page.clock.runFor(600);
    await expect(trustButton(page)).toBeEnabled();
    await setFocus(false);
    await expect(trustButton(page)).toBeDisabled();
    await trustButton(page).click({ force: true });
    expect(page.url()).toBe(`${gateway.url}/${site}/`);
    await expect(page.getByRole('heading')).toHaveText('First visit to this site');
  },
  { tag: '@full' },
);

type FocusWindow = { setFocus(value: boolean): void };

attack(
  group,
  'a link to the question ends with `#restricted`, `#trusted` or the name of one of its controls',
  'no fragment names anything in that page, so the safe answer keeps the focus',
  async () => {
    const names = ['restricted', 'trusted', 'confirm', 'decision', 'token', 'return'];
    for (const fragment of isDefaultTier ? names.slice(0, 2) : names) {
      const page = await ask(`/${site}/#${fragment}`);
      await expect(page.getByRole('button', { name: 'Open without scripts' })).toBeFocused();
      expect(await page.evaluate(() => document.querySelector(':target'))).toBeNull();
      await page.evaluate((fragment) => {
        location.hash = '';
        location.hash = fragment;
      }, fragment);
      await page.keyboard.press('Tab');
      await expect(trustButton(page)).toBeFocused();
      await page.close();
    }
  },
);

attack(
  group,
  'a page loads the question in a popup again and again, to be quicker than the user',
  'every load starts the second anew, and the token of the former load decides nothing twice',
  async ({ context: own }) => {
    await useProfile(own);
    const opener = await context.newPage();
    await opener.goto('about:blank');
    const [popup] = await Promise.all([
      context.waitForEvent('page'),
      opener.evaluate(
        (url) => void window.open(url, 'popup', 'width=200,height=200'),
        `${gateway.url}/${site}/`,
      ),
    ]);
    // Time stands still but for `runFor`: however slow the machine is, a page is in view for exactly 900 ms.
    await popup.clock.install({ time: 0 });
    await popup.clock.pauseAt(1000);
    const tokens = new Set<string>();
    for (let i = 0; i < 3; i++) {
      await popup.goto(`${gateway.url}/${site}/?${i}`);
      await popup.clock.runFor(900);
      await expect(trustButton(popup)).toBeDisabled();
      tokens.add(await tokenOf(popup));
    }
    expect(tokens.size).toBe(3);
    expect(await decisions()).toEqual({});
  },
  { tag: '@full' },
);

attack(
  group,
  'a form on a page of another site answers for the user',
  'it has no token, and browsers send its origin',
  async () => {
    for (const decision of ['trusted', 'owner', 'confirm', 'restricted']) {
      const page = await context.newPage();
      const fields = { token: 'guess', address: site, decision, return: `/${site}/` };
      expect(await sendForm(page, fields), decision).toBe(403);
    }
    expect(await decisions()).toEqual({});
  },
);

attack(
  group,
  'a form trusts at once with the token of the first step',
  'only the confirmation’s token can trust',
  async () => {
    for (const decision of ['trusted', 'owner']) {
      const page = await ask();
      expect(await sendForm(page, { token: await tokenOf(page), decision, return: '/' })).toBe(403);
      await expect(page.locator('body')).toContainText('Trust in a site has to be confirmed.');
    }
    expect(await decisions()).toEqual({});
  },
);

attack(
  group,
  'a token is used a second time, for another address, or after another decision',
  'tokens are single-use and bound to their address, and every decision invalidates all of them',
  async () => {
    const other = await publishPage('<title>Other</title>');
    const [first, second] = [await ask(), await ask(`/${other}/`)];
    const [used, stale] = [await tokenOf(first), await tokenOf(second)];
    // Bound: the address that the form names is not asked.
    await sendForm(first, { token: used, address: other, decision: 'restricted', return: `/${site}/` });
    expect(await decisions()).toEqual({ [site]: 'restricted' });
    for (const token of [used, stale]) {
      const fields = { token, address: other, decision: 'restricted', return: `/${other}/` };
      expect(await sendForm(second, fields)).toBe(303);
      await expect(second.getByRole('heading')).toHaveText('First visit to this site');
      await expect(second.getByRole('status')).toHaveText(
        'Your answer came too late, so the gateway asks again.',
      );
    }
    expect(await decisions()).toEqual({ [site]: 'restricted' });
  },
);

attack(
  group,
  'a trusted page reads and overwrites everything in IndexedDB to forge an answer for another address',
  'tokens are only in the worker’s memory',
  async () => {
    await decide(site, 'trusted');
    const other = await publishPage(`${steal}<p>Other`);
    const question = await ask(`/${other}/`);
    const token = await tokenOf(question);
    const page = await context.newPage();
    await page.goto(`${gateway.url}/${site}/`);
    const stored = await page.evaluate(async () => {
      const request = indexedDB.open('antway');
      await new Promise((resolve) => request.addEventListener('success', resolve));
      const store = request.result.transaction('settings').objectStore('settings');
      const [keys, values] = [store.getAllKeys(), store.getAll()];
      await new Promise((resolve) => values.addEventListener('success', resolve));
      request.result.close();
      return JSON.stringify([keys.result, values.result]);
    });
    expect(stored).not.toContain(token);
    expect(stored).not.toContain('token');
  },
);

attack(
  group,
  'the browser stops the worker between the question and its answer',
  'the gateway asks again and says so, instead of an error or an unchecked decision',
  async () => {
    for (const step of isDefaultTier ? [yes] : [trustButton, yes]) {
      const page = await ask();
      await expect(trustButton(page)).toBeEnabled();
      if (step === yes) {
        await trustButton(page).click();
        await expect(yes(page)).toBeEnabled();
      }
      await stopWorkers(page);
      await step(page).click();
      await expect(page.getByRole('status')).toHaveText(
        'Your answer came too late, so the gateway asks again.',
      );
      expect(page.url()).toBe(`${gateway.url}/${site}/`);
      await page.reload();
      await expect(page.getByRole('status')).toHaveCount(0);
      expect(await decisions()).toEqual({});
    }
    const page = await ask();
    await trustSite(page);
    await expect(page).toHaveTitle('ran');
  },
);

test('the two steps work without the script of the page', async () => {
  const page = await context.newPage();
  await page.addInitScript(() => {
    // As if the page had no script: its listeners are never called.
    EventTarget.prototype.addEventListener = () => {};
    Element.prototype.setAttribute = () => {};
  });
  await page.goto(`${gateway.url}/${site}/`);
  await trustButton(page).click();
  expect(await decisions()).toEqual({});
  await yes(page).click();
  await expect(page).toHaveTitle('ran');
  expect(await decisions()).toEqual({ [site]: 'trusted' });
});

attack(
  group,
  'a page goes on running after the user has taken its trust back',
  'revoking loads the address’s open pages anew, in tabs and frames, and they show the question',
  async () => {
    await decide(site, 'trusted');
    const page = await context.newPage();
    await page.goto(`${gateway.url}/${site}/#part`);
    await expect(page).toHaveTitle('ran');
    // The worker knows a page by the URL that it was loaded from.
    await page.evaluate(() => history.replaceState(null, '', '/innocent'));
    const other = await publishPage('<title>Other</title>');
    await decide(other, 'restricted');
    const untouched = await context.newPage();
    await untouched.goto(`${gateway.url}/${other}/`);
    await untouched.evaluate(() => (document.title = 'changed'));

    await gateway.fetch(`/-/trust?address=${site}`, { method: 'DELETE' });
    await expect(page.getByRole('heading')).toHaveText('First visit to this site');
    expect(await untouched.title()).toBe('changed');
    expect(await decisions()).toEqual({ [other]: 'restricted' });
  },
);

attack(
  group,
  'a page goes on running after everything was reset',
  'a reset leads all pages of content to the start page',
  async () => {
    await decide(site, 'trusted');
    const page = await context.newPage();
    await page.goto(`${gateway.url}/${site}/`);
    await expect(page).toHaveTitle('ran');
    expect((await gateway.fetch('/-/reset', { method: 'POST', body: '{}' })).status).toBe(204);
    await expect(page.getByRole('heading', { name: 'Explore the Autonomi network' })).toBeVisible();
    expect(page.url()).toBe(`${gateway.url}/`);
  },
);

test.describe('of a pointer', () => {
  let owner = new PointerOwner(33);
  let pointer = owner.address.hex;
  const versions: string[] = [];

  test.beforeEach(() => {
    owner = new PointerOwner(33 + sites);
    pointer = owner.address.hex;
  });

  async function point(version: number): Promise<void> {
    const html = `<!doctype html><title>quiet</title><script>document.title = 'ran ${version}'</script>`;
    versions[version] = await publishPage(html);
    peer.putPointer(pointer, owner.sign(BigInt(version), Address.fromHex(versions[version]!)));
  }

  attack(
    group,
    'the owner of a trusted pointer replaces its target',
    'trust is bound to the version that the user saw, and the gateway asks again',
    async () => {
      await point(1);
      const page = await ask(`/${pointer}/`);
      await expect(page.getByText('its owner can change what it shows')).toBeVisible();
      await trustButton(page).click();
      await page.getByRole('button', { name: 'Yes, for this version only' }).click();
      await expect(page).toHaveTitle('ran 1');

      await point(2);
      // A pointer is asked for again after a while; a worker that starts asks at once.
      await stopWorkers(page);
      await page.goto(`${gateway.url}/${pointer}/`);
      await expect(page.getByRole('heading')).toHaveText('First visit to this site');
      await openWithoutScripts(page);
      await expect(page).toHaveTitle('quiet');
    },
  );

  test('an update opens without a question if the user trusts the owner', { tag: '@full' }, async () => {
    await point(1);
    const page = await ask(`/${pointer}/`);
    await trustButton(page).click();
    await page.getByRole('button', { name: 'Yes, for every version by this owner' }).click();
    await expect(page).toHaveTitle('ran 1');
    await point(2);
    await stopWorkers(page);
    await page.goto(`${gateway.url}/${pointer}/`);
    await expect(page).toHaveTitle('ran 2');
  });

  test('the shell trusts one version, or all versions if the request says so', async () => {
    await point(1);
    const listed = async () => {
      const all = JSON.parse((await gateway.fetch('/-/trust')).text) as { address: string }[];
      return all.filter(({ address }) => address === pointer);
    };
    await decide(pointer, 'trusted');
    expect(await listed()).toMatchObject([{ address: pointer, content: versions[1] }]);
    const body = JSON.stringify({ address: pointer, decision: 'trusted', allVersions: true });
    await gateway.fetch('/-/trust', { method: 'POST', body });
    expect(await listed()).toMatchObject([{ address: pointer, allVersions: true }]);
  });
});
