import { expect } from '../support/chromium.ts';
import { passphrase, startPublisher } from '../support/lasting-address.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';
import { tour } from './tour.ts';

tour('12 lasting addresses', async ({ album, t, startPeer, openShell, folder }) => {
  const { root } = await startPublisher(startPeer, folder);
  const shell = await openShell(`${root}/#publish`);
  const section = shell.getByRole('region', { name: t.pointers.title });
  const form = section.getByRole('form');
  const publish = async (name: string) => {
    const buffer = Buffer.from(`<!doctype html><title>${name}</title>`);
    await shell
      .locator('input[name=files]')
      .setInputFiles({ name: `${name}.html`, mimeType: 'text/html', buffer });
    await shell.getByRole('button', { name: t.publish.start, exact: true }).click();
    await expect(shell.getByRole('heading', { name: t.publish.doneTitle, exact: true })).toBeVisible();
  };
  const confirm = async (button: string) => {
    await form.getByLabel(t.backup.passphrase, { exact: true }).fill(passphrase);
    await form.getByRole('button', { name: button, exact: true }).click();
  };

  await publish('Garden');
  await section.getByRole('button', { name: t.pointers.create }).click();
  await form.getByRole('button', { name: t.pointers.next }).click();
  await expect(form.getByRole('alert')).not.toBeEmpty();
  await album.shoot(shell, 'form with a passphrase that is too short');
  await form.getByLabel(t.backup.again).fill(passphrase);
  await confirm(t.pointers.next);
  await expect(form.getByRole('heading')).toHaveText(t.pointers.phraseTitle);
  await album.shoot(shell, 'recovery phrase');
  const words = await form.getByRole('list').getByRole('listitem').allTextContents();
  for (const field of await form.getByRole('textbox').all()) {
    const [, number] = /(\d+)/.exec((await field.locator('..').textContent())!)!;
    await field.fill(words[Number(number) - 1]!);
  }
  await form.getByRole('button', { name: t.pointers.createNow, exact: true }).click();
  await expect(section.getByRole('listitem')).toHaveCount(1);
  await album.shoot(shell, 'new address');
  await section.getByRole('button', { name: t.pointers.actions.unlock }).click();
  await album.shoot(shell, 'ways to unlock the key');
  await form.getByRole('button', { name: t.common.cancel }).click();

  await shell.getByRole('button', { name: t.publish.again }).click();
  await publish('Garden in autumn');
  await section.getByRole('button', { name: t.pointers.actions.move }).click();
  await form.getByText(t.pointers.where).click();
  await album.shoot(shell, 'change of where it leads');
  const chain = await TestChain.start();
  const relay = await RelayDouble.start(chain);
  try {
    await form.getByRole('radio', { name: t.pointers.places.network }).check();
    await form.getByLabel(t.payment.otherRelay).fill(relay.url);
    await form.getByText(t.payment.testChainTitle, { exact: true }).click();
    await form
      .getByLabel(t.payment.testChainField)
      .fill(`${TestChain.chainId},${chain.token},${chain.vault}`);
    await album.shoot(shell, 'change in the network');
    await confirm(t.pointers.doIt.move);
    const price = section.getByRole('region', { name: t.payment.priceTitle });
    await expect(price).toBeVisible();
    await album.shoot(shell, 'price of a change');
    await price.getByRole('button', { name: t.payment.back }).click();
    await expect(form.getByText(t.pointers.notPaid)).toBeVisible();
    await album.shoot(shell, 'change that was not paid for');
  } finally {
    await relay.stop();
    await chain.stop();
  }
  await form.getByRole('radio', { name: t.pointers.places.peers }).check();
  await confirm(t.pointers.doIt.move);
  await expect(form).toHaveCount(0);
  await section.getByText(t.pointers.states, { exact: true }).click();
  await section.getByRole('button', { name: t.pointers.actions.freeze }).click();
  await album.shoot(shell, 'earlier states, and the question before it is frozen');
  await confirm(t.pointers.doIt.freeze);
  await expect(section.getByText(t.pointers.facts.frozen, { exact: true })).toBeVisible();
  await section.getByRole('button', { name: t.pointers.bring }).click();
  await album.shoot(shell, 'frozen, and the form for a key from elsewhere');
});
