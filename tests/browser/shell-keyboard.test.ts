import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expect, type Gateway, sceneOfFile, test } from '../support/chromium.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import { publish } from '../support/publish.ts';
import { knownPeers } from '../support/publish-screen.ts';
import { viewed } from '../support/viewer.ts';

/** No screen has more stops than this. */
const mostStops = 80;

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  return {
    letter: await publish(Buffer.from('a letter'), peer),
    gateway: await openWorker({ peers: [peer.url] }),
  };
});

let gateway: Gateway;
let shell: Page;

test.beforeEach(async () => {
  test.slow();
  gateway = await openFreshShell(scene().gateway);
  shell = gateway.shell;
});

const heading = () => shell.getByRole('heading', { level: 1 });
const navigation = () => shell.getByRole('navigation', { name: 'Screens' });
const press = (key: string) => shell.keyboard.press(key);

/** Goes on by Tab until something has the focus, which is to be seen wherever it is on the way. */
async function tabTo(wanted: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await expect(wanted).toBeVisible();
  for (let i = 0; i < mostStops; i++) {
    await press(key);
    const { isHere, unseen } = await wanted.evaluate(lookAtFocus);
    expect(unseen).toBe('');
    if (isHere) return;
  }
  throw new Error(`${mostStops} times ${key} do not lead to ${wanted}.`);
}

/** In the page: whether an element has the focus, and what has it without its being seen; empty where it is seen. */
function lookAtFocus(wanted: Element): { isHere: boolean; unseen: string } {
  const focused = document.activeElement;
  const isHere = focused === wanted;
  if (!focused || focused === document.body) return { isHere, unseen: '' };
  // Of these a part beside or around them shows it.
  const shown = focused.matches('.segments input')
    ? focused.nextElementSibling!
    : (focused.closest('.address-box:has(input:focus)') ?? focused);
  const { outlineStyle, outlineWidth } = getComputedStyle(shown);
  const { top, bottom, left, right } = shown.getBoundingClientRect();
  const isInView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth && right > left;
  const isMarked = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
  return { isHere, unseen: isInView && isMarked ? '' : focused.outerHTML };
}

/** From wherever the focus is to another screen. */
async function goTo(name: string): Promise<void> {
  await tabTo(navigation().getByRole('link', { name }));
  await press('Enter');
  await expect(heading()).toBeFocused();
}

test('content is one step away, and every control is reached in the order of the page', {
  tag: '@smoke',
}, async () => {
  await press('Tab');
  await expect(shell.getByRole('link', { name: 'Skip to the content' })).toBeFocused();
  await press('Enter');
  await expect(shell.getByRole('main')).toBeFocused();
  await press('Tab');
  await expect(shell.getByRole('combobox', { name: 'Search or open an address' })).toBeFocused();

  for (const name of ['Library', 'Live', 'Publish', 'Settings']) {
    await navigation().getByRole('link', { name }).focus();
    await press('Enter');
    await expect(heading()).toBeFocused();
    if (name === 'Settings')
      await expect(shell.getByRole('region', { name: 'Names', exact: true })).toBeVisible();
    // Radio buttons are one stop for each group.
    const reachable = await shell.evaluate(() => {
      const controls = [
        ...document.querySelectorAll<HTMLInputElement>(
          'main a, main button, main input, main select, main summary',
        ),
      ].filter((element) => element.checkVisibility() && !element.disabled);
      const groups = new Set(controls.map(({ type, name }, i) => (type === 'radio' ? name : i)));
      return groups.size;
    });
    const places: number[] = [];
    while (places.length < reachable) {
      await press('Tab');
      const { unseen } = await shell.locator('body').evaluate(lookAtFocus);
      expect(unseen, name).toBe('');
      const place = await shell.evaluate(() =>
        [...document.querySelectorAll('main *')].indexOf(document.activeElement!),
      );
      if (place < 0) break;
      places.push(place);
    }
    expect(places, name).toEqual(places.toSorted((a, b) => a - b));
    expect(places.length, name).toBe(reachable);
  }
});

test('a user opens, pins, finds, unpins and deletes a site by keyboard alone', { tag: '@full' }, async () => {
  const { letter } = scene();
  const box = shell.getByRole('combobox', { name: 'Search or open an address' });
  await tabTo(box);
  await shell.keyboard.type(letter);
  await press('Enter');
  await expect(viewed(shell).getByText('a letter')).toBeVisible();
  await shell.goBack();

  const recent = shell.getByRole('region', { name: 'Last opened' });
  await expect(recent.getByRole('link')).toHaveCount(1);
  await tabTo(recent.getByRole('link'));
  await press('Enter');
  await expect(viewed(shell).getByText('a letter')).toBeVisible();
  await shell.goBack();
  await goTo('Library');

  const row = shell.locator('.site-row');
  await tabTo(shell.getByRole('searchbox'));
  await shell.keyboard.type(letter.slice(0, 8));
  await tabTo(row.getByRole('button', { name: /^Pin:/ }));
  await press('Enter');
  await expect(row.locator('.pin-fact')).toHaveText('Pinned');
  // The button is another now, and still has the focus.
  await expect(row.getByRole('button', { name: /^Unpin:/ })).toBeFocused();
  await tabTo(row.getByRole('button', { name: /^More for/ }));
  await press('Space');
  await tabTo(row.getByRole('button', { name: /^Delete:/ }));
  await press('Enter');
  // The question's harmless answer has the focus.
  await expect(row.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await press('Enter');
  await expect(row.getByRole('button', { name: /^Delete:/ })).toBeFocused();
  await press('Enter');
  await tabTo(row.getByRole('button', { name: 'Delete', exact: true }));
  await press('Enter');
  await expect(row).toHaveCount(0);
  await expect(heading()).toBeFocused();
});

test('a user changes settings by keyboard alone', { tag: '@full' }, async () => {
  await goTo('Settings');
  await tabTo(shell.getByRole('radio', { name: 'System' }));
  await press('ArrowRight');
  await expect(shell.getByRole('radio', { name: 'Light' })).toBeChecked();
  const peers = shell.getByRole('region', { name: 'Peers' });
  await tabTo(peers.getByLabel('Add a peer'));
  await shell.keyboard.type('not a host');
  await press('Enter');
  await expect(peers.getByRole('alert')).toContainText('Enter an https:// URL');
  await expect(peers.getByLabel('Add a peer')).toBeFocused();
  await press('Control+A');
  await shell.keyboard.type('other.example');
  await press('Enter');
  await tabTo(peers.getByRole('button', { name: 'Add it anyway' }));
  await press('Enter');
  await expect(peers.getByLabel('Add a peer')).toBeFocused();
  await expect(peers.getByRole('listitem')).toHaveCount(2);
  await tabTo(peers.getByRole('button', { name: 'Remove https://other.example' }), 'Shift+Tab');
  await press('Enter');
  await expect(peers.getByRole('listitem')).toHaveCount(1);
  await expect(peers.getByRole('heading')).toBeFocused();
  await tabTo(shell.getByText('Advanced options'));
  await press('Enter');
  const transport = shell.getByRole('region', { name: 'Ways to the peers' });
  await tabTo(transport.getByRole('radio', { name: 'Automatic' }));
  await press('ArrowRight');
  await expect(transport.getByRole('radio', { name: 'WebTransport only' })).toBeChecked();
});

test('a user publishes a file by keyboard alone, and the focus follows each step', { tag: '@full' }, async ({
  folder,
}) => {
  const file = join(folder, 'letter.txt');
  writeFileSync(file, 'Dear reader');
  // Early: the browser may handle a key before it has begun to intercept file choosers.
  const chooser = shell.waitForEvent('filechooser');
  await goTo('Publish');
  await tabTo(shell.getByRole('button', { name: 'Choose files…' }));
  await press('Enter');
  await (await chooser).setFiles(file);
  await expect(shell.getByRole('heading', { name: 'letter.txt' })).toBeFocused();
  await tabTo(knownPeers(shell));
  await press('Space');
  await tabTo(shell.getByLabel('Another peer'));
  await shell.keyboard.type(gateway.url);
  await tabTo(shell.getByRole('radio', { name: 'Public' }));
  await press('ArrowDown');
  await expect(shell.getByRole('radio', { name: 'Private' })).toBeChecked();
  await tabTo(shell.getByRole('button', { name: 'Publish', exact: true }));
  await press('Enter');
  const done = shell.getByRole('region', { name: 'Published privately' });
  await expect(done.getByRole('heading')).toBeFocused({ timeout: 45_000 });
  // The link of this gateway works on this computer only.
  await tabTo(done.getByRole('button', { name: 'Copy: Manifest link' }));
  await tabTo(done.getByRole('button', { name: 'Publish something else' }));
  await press('Enter');
  await expect(shell.getByRole('heading', { name: 'What to publish' })).toBeFocused();
});
