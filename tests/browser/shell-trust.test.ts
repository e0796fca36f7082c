import type { Locator, Page } from '@playwright/test';
import { expect, type Gateway, sceneOfFile, test, trustSite } from '../support/chromium.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import { publish } from '../support/publish.ts';
import { visitCounts } from '../support/visits.ts';

/** The title of the sites in their documents. */
const title = 'still';

const site = (number: number) =>
  Buffer.from(`<!doctype html><title>${title}</title><script>document.title = 'ran ${number}'</script>`);

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const named = await publish(site(1), peer);
  const plain = await publish(site(2), peer);
  return {
    plain,
    gateway: await openWorker({ peers: [peer.url], names: { garden: named } }),
    trusting: await openWorker({ peers: [peer.url], trusted: [plain] }),
  };
});

let gateway: Gateway;
let shell: Page;
let plain: string;
let section: Locator;

async function openSettings(ofScene: Gateway): Promise<void> {
  plain = scene().plain;
  gateway = await openFreshShell(ofScene, '#settings');
  shell = gateway.shell;
  section = shell.getByRole('region', { name: 'Sites and their scripts' });
}

/** Visits a site for the first time, answers the question, and goes back to the shell. */
async function visit(path: string, answer: string): Promise<void> {
  await shell.goto(gateway.url + path);
  if (answer === 'Trust this site') await trustSite(shell);
  else await shell.getByRole('button', { name: answer }).click();
  await expect(shell).toHaveTitle(/still|ran/);
  await visitCounts(shell);
  await goToSettings();
}

async function goToSettings(): Promise<void> {
  await shell.goto(`${gateway.url}/#settings`);
  await expect(section).toBeVisible();
}

async function titleOf(path: string): Promise<string> {
  await shell.goto(gateway.url + path);
  const shown = await shell.title();
  await goToSettings();
  return shown;
}

test('sites with a decision are listed by name or title', { tag: '@smoke' }, async () => {
  await openSettings(scene().gateway);
  await expect(section).toContainText('Your answers are listed here.');
  await expect(section.getByRole('listitem')).toHaveCount(0);

  await visit('/garden', 'Trust this site');
  await visit(`/${plain}`, 'Open without scripts');

  await expect(section.getByRole('listitem')).toHaveCount(2);
  await expect(section.getByRole('listitem').filter({ hasText: 'garden' })).toContainText('Trusted');
  await expect(section.getByRole('listitem').filter({ hasText: title })).toContainText('Without scripts');
});

test('a user changes a decision by keyboard, and it holds at the next visit', { tag: '@full' }, async () => {
  await openSettings(scene().gateway);
  await visit(`/${plain}`, 'Open without scripts');
  expect(await titleOf(`/${plain}`)).toBe('still');

  await section.getByRole('button', { name: `Trust this site: ${title}` }).focus();
  await shell.keyboard.press('Enter');
  await expect(section.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await shell.keyboard.press('Shift+Tab');
  const yes = section.getByRole('button', { name: 'Yes, run its scripts' });
  await expect(yes).toBeFocused();
  await expect(yes).toBeEnabled();
  await shell.keyboard.press('Enter');
  await expect(section).toContainText('Trusted');
  const restrict = section.getByRole('button', { name: `Open without scripts: ${title}` });
  await expect(restrict).toBeFocused();
  await expect(shell.getByRole('status').filter({ hasText: title })).toContainText('Trusted');
  expect(await titleOf(`/${plain}`)).toBe('ran 2');

  await restrict.click();
  await expect(section).toContainText('Without scripts');
  expect(await titleOf(`/${plain}`)).toBe('still');
});

test('a revoked decision disappears from the list, and the next visit asks again', {
  tag: '@full',
}, async () => {
  await openSettings(scene().gateway);
  await visit('/garden', 'Trust this site');
  await visit(`/${plain}`, 'Open without scripts');

  await section.getByRole('button', { name: 'Ask again: garden' }).click();
  await expect(section.getByRole('listitem')).toHaveCount(1);
  await expect(section.getByRole('heading')).toBeFocused();
  await section.getByRole('button', { name: `Ask again: ${title}` }).click();
  await expect(section.getByRole('listitem')).toHaveCount(0);
  await expect(section.getByRole('heading')).toBeFocused();

  await shell.goto(`${gateway.url}/garden`);
  await expect(shell.getByRole('heading')).toHaveText('First visit to this site');
});

test('a site that the host trusts is listed; a user can restrict it and restore the host’s decision', {
  tag: '@full',
}, async () => {
  await openSettings(scene().trusting);
  await expect(section.getByRole('listitem')).toHaveCount(1);
  await expect(section.getByRole('listitem')).toContainText('Trusted · from the host');
  await expect(section.getByRole('button')).toHaveCount(1);
  expect(await titleOf(`/${plain}`)).toBe('ran 2');

  await section.getByRole('button', { name: `Open without scripts: ${title}` }).click();
  await expect(section.getByRole('listitem')).toContainText('Without scripts');
  await expect(section.getByRole('listitem')).toHaveCount(1);
  expect(await titleOf(`/${plain}`)).toBe('still');

  await section.getByRole('button', { name: `Use the host’s decision: ${title}` }).click();
  await expect(section.getByRole('listitem')).toContainText('from the host');
  await expect(section.getByRole('heading')).toBeFocused();
  expect(await titleOf(`/${plain}`)).toBe('ran 2');
});
