import { expect } from '../support/chromium.ts';
import { startPublisher } from '../support/lasting-address.ts';
import { installWallet, walletIn } from '../support/page-wallet.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';
import { tour } from './tour.ts';

tour('13 paid upload', async ({ album, t, startPeer, openShell, newProfile, folder }) => {
  const { root } = await startPublisher(startPeer, folder);
  const chain = await TestChain.start();
  const relay = await RelayDouble.start(chain);
  try {
    const profile = await newProfile();
    await installWallet(profile, chain);
    const shell = await openShell(`${root}/#publish`, profile);
    const price = shell.getByRole('region', { name: t.payment.priceTitle });
    const click = (name: string) => price.getByRole('button', { name, exact: true }).click();

    const buffer = Buffer.from('<!doctype html><title>Garden</title>');
    await shell
      .locator('input[name=files]')
      .setInputFiles({ name: 'garden.html', mimeType: 'text/html', buffer });
    await shell.getByRole('checkbox', { name: t.publish.inNetwork }).check();
    await expect(shell.getByText(t.payment.noRelays)).toBeVisible();
    await album.shoot(shell, 'no peer that takes paid uploads');
    await shell.getByLabel(t.payment.otherRelay).fill(relay.url);
    await shell.getByText(t.payment.testChainTitle, { exact: true }).click();
    const contracts = `${chain.token},${chain.vault}`;
    await shell.getByLabel(t.payment.testChainField).fill(`1,${contracts}`);
    await expect(shell.getByText(t.payment.isOtherChain('1'))).toBeVisible();
    await album.shoot(shell, 'chain of another network');
    await shell.getByLabel(t.payment.testChainField).fill(`${TestChain.chainId},${contracts}`);
    await shell.getByRole('button', { name: t.publish.seePrice }).click();
    await expect(price).toBeVisible();
    await album.shoot(shell, 'price');

    await click(t.payment.connect('Test Wallet'));
    const pay = price.getByRole('button', { name: t.payment.pay('') });
    await expect(pay).toBeVisible();
    await album.shoot(shell, 'price with a wallet');
    await walletIn(shell).set({ mode: 'refuse' });
    await pay.click();
    await expect(price.getByText('REJECTED')).toBeVisible();
    await album.shoot(shell, 'payment that the user refuses');
    await walletIn(shell).set({ mode: 'hold' });
    await pay.click();
    await expect(price.getByText(t.payment.approving)).toBeVisible();
    await album.shoot(shell, 'wallet that asks');
    await walletIn(shell).agreeLate();
    await expect(price.getByText(t.payment.paying)).toBeVisible();
    await click(t.payment.stop);
    await expect(price.getByText(t.payment.stopped)).toBeVisible();
    await album.shoot(shell, 'payment that the wallet may still send');
    await walletIn(shell).agreeLate();
    await walletIn(shell).set({ mode: 'agree' });
    await click(t.payment.otherWallet);
    await click(t.payment.connect('Test Wallet'));
    await expect(shell.getByRole('button', { name: t.payment.receipt })).toBeVisible({ timeout: 30_000 });
    await album.shoot(shell, 'paid and stored');
  } finally {
    await relay.stop();
    await chain.stop();
  }
});
