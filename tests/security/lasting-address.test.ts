import { Address } from '../../src/address.ts';
import { expect } from '../support/chromium.ts';
import { createPointer, openPublish, publishPage, startPublisher } from '../support/lasting-address.ts';
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
);
