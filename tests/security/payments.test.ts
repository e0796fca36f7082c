import type { Page } from '@playwright/test';
import { expect, test } from '../support/chromium.ts';
import { openPublish, startPublisher } from '../support/lasting-address.ts';
import { installWallet } from '../support/page-wallet.ts';
import { fillNetwork, payButton, price, published, seePrice } from '../support/payment-screen.ts';
import { publish } from '../support/publish.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { TestChain } from '../support/test-chain.ts';
import { attack } from './attack.ts';

/** Looks for databases, and offers a wallet to all windows that the site can reach. */
const script = `
  const provider = { request: async () => ['0x${'66'.repeat(20)}'] };
  const info = { uuid: 'attacker', name: 'Free Wallet', icon: '', rdns: 'example.attacker' };
  const announce = (target) => {
    try {
      target.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }));
      return 'announced';
    } catch (error) {
      return error.name;
    }
  };
  const offer = () => {
    opener?.postMessage({ type: 'eip6963:announceProvider', detail: { info } }, '*');
    return [announce(window), opener ? announce(opener) : 'no opener'];
  };
  setInterval(offer, 50);
  indexedDB.databases().then((all) => {
    document.title = 'found ' + JSON.stringify({ names: all.map(({ name }) => name), offers: offer() });
  });
`;

let chain: TestChain;
let relay: RelayDouble;
test.beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
});
test.afterAll(async () => {
  await relay.stop();
  await chain.stop();
});

async function choose(shell: Page, text: string): Promise<void> {
  const again = shell.getByRole('button', { name: 'Publish something else' });
  if (await again.isVisible()) await again.click();
  const file = { name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from(text) };
  await shell.locator('input[name=files]').setInputFiles(file);
  await fillNetwork(shell, chain, { relay: relay.url });
  await seePrice(shell);
}

attack(
  'Payments',
  'a site with scripts, opened by the app, looks for the payments in its databases, and offers a wallet of its own to the app’s window',
  'Its origin has no such database, and the app lists only wallets that are announced in its own window.',
  async ({ context, startPeer, folder }) => {
    const { peer, root } = await startPublisher(startPeer, folder);
    await installWallet(context, chain);
    const html = `<!doctype html><title>Attacker</title><script>${script}</script>`;
    const site = await publish(await makeTarchive({ 'index.html': html }), peer);
    const shell = await openPublish(context, root);
    await choose(shell, 'Dear reader');
    const wallets = price(shell).getByRole('group', { name: 'Pay with' }).getByRole('button');
    await wallets.click();
    await payButton(shell).click();
    await expect(published(shell)).toBeVisible();
    const names = () => indexedDB.databases().then((all) => all.map(({ name }) => name));
    expect(await shell.evaluate(names)).toContain('antway-payments');

    await choose(shell, 'Dear reader, again');
    const opened = context.waitForEvent('page');
    await shell.evaluate((url) => void window.open(url), `${root}/${site}/`);
    const attacker = await opened;
    await expect(attacker).toHaveTitle(/^found/);
    const { names: found, offers } = JSON.parse((await attacker.title()).replace('found ', ''));
    expect(found).not.toContain('antway-payments');
    expect(offers[0]).toBe('announced');
    expect(offers[1]).not.toBe('announced');
    await expect(wallets).toHaveText(['Connect Test Wallet']);
    await expect(shell.getByText('Free Wallet')).toHaveCount(0);
  },
);
