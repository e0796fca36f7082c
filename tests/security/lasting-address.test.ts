import { Address, toHex } from '../../src/address.ts';
import { seedOfPhrase } from '../../src/owner/recovery-phrase.ts';
import { expect, openShellIn, trustSite } from '../support/chromium.ts';
import {
  addressOf,
  createPointer,
  openPublish,
  publishPage,
  section,
  startPublisher,
} from '../support/lasting-address.ts';
import { addAuthenticator, askForPrf, decryptSeed, storedPasskey } from '../support/passkeys.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';

attack(
  'Keys of lasting addresses',
  'a site with scripts looks for the keys in its databases, from its own origin and in a frame of the gateway’s origin',
  'Its origin has no such database, and the gateway’s pages show themselves in no frame.',
  async ({ context, startPeer, folder }) => {
    const { peer, root } = await startPublisher(startPeer, folder);
    const script = `<script>
      indexedDB.databases().then((all) => { document.title = 'found ' + all.map(({ name }) => name); });
    </script>`;
    const site = await publish(
      await makeTarchive({ 'index.html': `<!doctype html><title>Attacker</title>${script}` }),
      peer,
    );
    const shell = await openPublish(context, root);
    await publishPage(shell, 'First');
    await createPointer(shell, 'Garden');
    const names = () => indexedDB.databases().then((all) => all.map(({ name }) => name));
    expect(await shell.evaluate(names)).toContain('antway-owner');

    const attacker = await context.newPage();
    await attacker.goto(`${root}/${site}/`);
    await expect(attacker).toHaveTitle(/^found/);
    expect(new URL(attacker.url()).origin).toBe(root.replace('//', `//${Address.fromHex(site).base32}.`));
    expect(await attacker.title()).not.toContain('antway-owner');
    expect(await attacker.evaluate(names)).not.toContain('antway-owner');
    await attacker.evaluate(async (src) => {
      const frame = Object.assign(document.createElement('iframe'), { src });
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
      document.body.append(frame);
      await loaded;
    }, `${root}/#publish`);
    expect(await attacker.frames().at(-1)!.content()).not.toContain('id="app"');
  },
  { tag: '@full' },
);

attack(
  'Keys of lasting addresses',
  'a site with scripts makes the user confirm the passkey in a page of a `blob:` URL, and has a copy of the encrypted key',
  'It gets the output of the passkey, and decrypts nothing: the device key is on another origin.',
  async ({ context, startPeer, folder }) => {
    const { peer, root } = await startPublisher(startPeer, folder);
    const html = '<!doctype html><title>Attacker</title>';
    const site = await publish(await makeTarchive({ 'index.html': html }), peer);
    const page = await openPublish(context, root);
    await addAuthenticator(page);
    await publishPage(page, 'First');
    const words = await createPointer(page, 'Garden', 'passkey');
    const address = await addressOf(page, 'Garden');
    const stored = await storedPasskey(page, address);

    // The authenticator is the tab's. In the site's own document, the policy refuses.
    await page.goto(`${root}/${site}/`);
    await page.waitForURL(`${root.replace('//', `//${Address.fromHex(site).base32}.`)}/**`);
    await expect(page).toHaveTitle('Attacker');
    expect(await askForPrf(page, stored)).toMatch(/feature is not enabled/);
    await page.evaluate(() => {
      location.href = URL.createObjectURL(new Blob(['<title>Data</title>'], { type: 'text/html' }));
    });
    await expect(page).toHaveTitle('Data');
    const prf = await askForPrf(page, stored);
    expect(prf).toMatch(/^[0-9a-f]{64}$/);
    expect(await decryptSeed(page, { stored, prf, address })).toBe('no device key');
    await page.evaluate(async () => {
      const device = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      await new Promise((resolve, reject) => {
        const opening = indexedDB.open('antway-owner', 2);
        opening.onupgradeneeded = () => opening.result.createObjectStore('keys').put(device, 'device');
        opening.onsuccess = () => resolve(opening.result.close());
        opening.onerror = reject;
      });
    });
    expect(await decryptSeed(page, { stored, prf, address })).toBe('no key');

    // The output is right: with the device key, it decrypts the seed.
    const shell = await openPublish(context, root);
    expect(await decryptSeed(shell, { stored, prf, address })).toBe(toHex(seedOfPhrase(words.join(' '))));
  },
  { tag: '@full' },
);

attack(
  'Keys of lasting addresses',
  'a site that runs on the gateway’s own origin, as the user trusts it, reads the database of the keys',
  'It finds no key and no device key: there the app makes none.',
  async ({ context, startPeer, folder }) => {
    const { peer, root } = await startPublisher(startPeer, folder);
    const html = '<!doctype html><title>Attacker</title>';
    const site = await publish(await makeTarchive({ 'index.html': html }), peer);
    const shared = root.replace('antway.localhost', '127.0.0.1');
    const shell = await openShellIn(context, `${shared}/#publish`);
    await expect(section(shell)).toContainText('their scripts could reach your keys');
    await publishPage(shell, 'First');

    const attacker = await context.newPage();
    await attacker.goto(`${shared}/${site}/`);
    await trustSite(attacker);
    await expect(attacker).toHaveTitle('Attacker');
    expect(new URL(attacker.url()).origin).toBe(shared);
    const entries = () =>
      attacker.evaluate(
        () =>
          new Promise((resolve, reject) => {
            const opening = indexedDB.open('antway-owner');
            opening.onerror = reject;
            opening.onsuccess = () => {
              const reading = opening.result.transaction('keys').objectStore('keys').getAllKeys();
              reading.onsuccess = () => resolve(reading.result);
            };
          }),
      );
    expect(await entries()).toEqual([]);
  },
);
