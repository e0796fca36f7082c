import type { BrowserContext, Page } from '@playwright/test';
import { Address, shortAddress } from '../../src/address.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { expect, openShellIn, sceneOfFile, test } from '../support/chromium.ts';
import { setSettings } from '../support/names-screen.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { PointerOwner } from '../support/pointers.ts';
import { publish } from '../support/publish.ts';
import { keyFileOf, listedFile, signatureFields, tarWithFields } from '../support/signatures.ts';
import { untilViewed } from '../support/viewer.ts';
import { attack } from './attack.ts';

const group = 'Signatures of files';
const alice = new OwnerKey(new Uint8Array(32).fill(1));
const mallory = new OwnerKey(new Uint8Array(32).fill(2));
const index = '<!doctype html><title>Attacker</title>';
const honest = 'Written by Alice.';

const scene = sceneOfFile(async ({ startPeer, startHost, context }) => {
  const peer = await startPeer();
  // The name that one of the attacks is about.
  const host = await startHost({ peers: [peer.url], names: { bob: mallory.address.hex } });
  return { peer, context, root: `http://antway.localhost:${new URL(host.url).port}` };
});

let peer: PeerProcess;
let context: BrowserContext;
/** Origin of the gateway. */
let root: string;

test.beforeEach(() => {
  ({ peer, context, root } = scene());
});

/** Opens the list of files of a site, as a user who knows Alice's key. */
async function openFiles(shell: Page, tar: Buffer): Promise<void> {
  await openFilesAt(shell, await publish(tar, peer));
}

async function openFilesAt(shell: Page, address: string): Promise<void> {
  await setSettings(shell, { names: { alice: alice.address.hex } });
  await shell.goto('about:blank');
  await shell.goto(`${root}/#view=${address}/`);
  await untilViewed(shell, `/${address}/`);
  await shell.getByRole('button', { name: 'Files', exact: true }).click();
}

attack(
  group,
  'a site has another owner’s key, and signatures that were copied from a file of that owner, cut off, or made by another key',
  'Each file has a warning, and nothing shows the owner’s name or address.',
  async () => {
    const shell = await openShellIn(context, root);
    const fields: Record<string, string> = {
      'copied.txt': signatureFields(alice, honest),
      'cut.txt': signatureFields(alice, 'cut').slice(0, -2),
      'other.txt': signatureFields(mallory, 'other'),
    };
    const files = { 'archive.tar.key': keyFileOf(alice), 'index.html': index };
    const evil = { 'copied.txt': 'Not written by Alice.', 'cut.txt': 'cut', 'other.txt': 'other' };
    await openFiles(shell, await tarWithFields({ ...files, ...evil }, (path) => fields[path] ?? ''));
    for (const name of Object.keys(evil)) {
      await expect(listedFile(shell, name)).toContainText('The signature is not valid', { timeout: 45_000 });
    }
    await expect(listedFile(shell, 'index.html')).toContainText('Not signed');
    const panel = shell.locator('.site-panel');
    await expect(panel).not.toContainText('alice');
    await expect(panel).not.toContainText(shortAddress(alice.address.hex));
  },
);

attack(
  group,
  'a route sends the path of a file that another owner signed to a file of the attacker',
  'The file that opens counts: it is not signed.',
  async () => {
    const shell = await openShellIn(context, root);
    const tar = await tarWithFields(
      {
        'archive.tar.key': keyFileOf(alice),
        'index.html': index,
        'honest.txt': honest,
        'signed.txt': honest,
        'evil.txt': 'Not written by Alice.',
        'app-conf.json': JSON.stringify({ routeMap: { 'honest.txt': 'evil.txt' } }),
      },
      (path) => (['honest.txt', 'signed.txt'].includes(path) ? signatureFields(alice, honest) : ''),
    );
    await openFiles(shell, tar);
    await expect(listedFile(shell, 'signed.txt')).toContainText('Signed by ~alice', { timeout: 45_000 });
    await expect(listedFile(shell, 'honest.txt')).toContainText('Not signed');
  },
  { tag: '@full' },
);

attack(
  group,
  'the host gives the attacker’s key the name of another owner',
  'Only the user’s own names count. The file shows the attacker’s key.',
  async () => {
    const shell = await openShellIn(context, root);
    const files = { 'archive.tar.key': keyFileOf(mallory), 'index.html': index };
    await openFiles(
      shell,
      await tarWithFields(files, (path) => (path === 'index.html' ? signatureFields(mallory, index) : '')),
    );
    const short = shortAddress(mallory.address.hex);
    await expect(listedFile(shell, 'index.html')).toContainText(`Signed by ${short}`, { timeout: 45_000 });
    await expect(shell.locator('.site-panel')).not.toContainText('bob');
  },
  { tag: '@full' },
);

attack(
  group,
  'a pointer leads to a file that another owner signed, and to other bytes by the time of the click',
  'The list opens the file that was checked.',
  async () => {
    const shell = await openShellIn(context, root);
    const archive = async (content: string) => {
      const files = { 'archive.tar.key': keyFileOf(alice), 'index.html': index, 'news.txt': content };
      const fieldsOf = (path: string) => (path === 'news.txt' ? signatureFields(alice, honest) : '');
      return Address.fromHex(await publish(await tarWithFields(files, fieldsOf), peer));
    };
    const [signed, other] = [await archive(honest), await archive('Not written by Alice.')];
    const attacker = new PointerOwner(46);
    peer.putPointer(attacker.address.hex, attacker.sign(1n, signed));
    await openFilesAt(shell, attacker.address.hex);
    await expect(listedFile(shell, 'news.txt')).toContainText('Signed by ~alice', { timeout: 45_000 });
    peer.putPointer(attacker.address.hex, attacker.sign(2n, other));
    const link = listedFile(shell, 'news.txt').getByRole('link');
    await expect(link).toHaveAttribute('href', `/${signed.hex}/news.txt`);
    await link.click();
    const frame = await untilViewed(shell, `/${signed.hex}/news.txt`);
    await expect(frame.locator('body')).toHaveText(honest);
  },
  { tag: '@full' },
);
