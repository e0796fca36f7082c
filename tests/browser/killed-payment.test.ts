import { randomBytes } from 'node:crypto';
import type { BrowserContext, Page } from '@playwright/test';
import { browserProcess } from '../support/browser-process.ts';
import { expect, test } from '../support/chromium.ts';
import { KillSwitch } from '../support/kill-switch.ts';
import { openPublish, startPublisher } from '../support/lasting-address.ts';
import { installWallet } from '../support/page-wallet.ts';
import { fillNetwork, payButton, price, published, seePrice } from '../support/payment-screen.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
const fileRecords = 4;

interface Upload {
  text: string;
  relay: RelayDouble;
  chain: TestChain;
}

/** Publishes a file with this text, also if an earlier attempt came to any point of it. */
async function publish(page: Page, { text, relay, chain }: Upload): Promise<void> {
  const buffer = Buffer.from(text);
  await page.locator('input[name=files]').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer });
  await fillNetwork(page, chain, { relay: relay.url });
  await seePrice(page);
  const done = published(page);
  const connect = price(page).getByRole('button', { name: 'Connect Test Wallet' });
  await connect.or(done).first().waitFor({ timeout: 30_000 });
  if (await done.isVisible()) return;
  await connect.click();
  const forget = page.getByRole('button', {
    name: 'The wallet does not show it any more: forget the payment',
  });
  await payButton(page).or(forget).or(done).first().waitFor();
  if (await forget.isVisible()) await forget.click();
  await payButton(page).or(done).first().waitFor();
  if (await payButton(page).isVisible()) await payButton(page).click();
  await done.waitFor({ timeout: 30_000 });
}

test('an upload is paid once and stored if the browser is killed before or after any step', {
  tag: '@full',
}, async ({ playwright, launchOptions, startPeer, folder }) => {
  test.setTimeout(1_800_000);
  const chain = await TestChain.start();
  const relay = await RelayDouble.start(chain);
  const { root } = await startPublisher(startPeer, folder);
  const profile = `${folder}/profile`;
  const killSwitch = await KillSwitch.start(() => process.kill(browserProcess(profile), 'SIGKILL'));
  const launch = async (): Promise<BrowserContext> => {
    const context = await playwright.chromium.launchPersistentContext(profile, {
      ...launchOptions,
      bypassCSP: true,
    });
    await installWallet(context, chain);
    return context;
  };
  try {
    let steps = 0;
    for (let isOver = false; !isOver; steps++) {
      const upload = { text: randomBytes(16).toString('hex'), relay, chain };
      relay.stored.clear();
      const before = await chain.balances();

      const first = await launch();
      await killSwitch.watch(first, steps);
      try {
        await publish(await openPublish(first, root), upload);
      } catch (error) {
        if (!killSwitch.hasKilled) throw error;
      }
      isOver = !killSwitch.hasKilled;
      await first.close();

      const second = await launch();
      await publish(await openPublish(second, root), upload);
      await second.close();
      const { token } = await chain.balances();
      expect([steps, before.token - token]).toEqual([steps, BigInt(fileRecords) * recordPrice]);
      expect([steps, relay.stored.size]).toEqual([steps, fileRecords]);
    }
    expect(steps).toBeGreaterThan(20);
  } finally {
    await killSwitch.stop();
    await relay.stop();
    await chain.stop();
  }
});
