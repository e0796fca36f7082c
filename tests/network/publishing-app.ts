import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { fetchIn, openShellIn } from '../support/chromium.ts';
import { installWallet } from '../support/page-wallet.ts';
import { distFolder } from '../support/paths.ts';
import { fillNetwork, foundRelays } from '../support/payment-screen.ts';
import { PeerProcess } from '../support/peer-process.ts';
import type { TestChain } from '../support/test-chain.ts';

/** Peers bring the chunks to the network, or the app itself does, which then knows these nodes first. */
type Way = { relays: readonly string[] } | { nodes: readonly string[] };

/** The app at a host that is no relay, in a browser profile with a wallet. */
export class PublishingApp {
  private constructor(
    private readonly host: PeerProcess,
    private readonly context: BrowserContext,
    private readonly chain: TestChain,
    private readonly way: Way,
  ) {}

  static async start(browser: Browser, folder: string, chain: TestChain, way: Way): Promise<PublishingApp> {
    const config = join(folder, `antway-${randomUUID()}.json`);
    const isDirect = 'nodes' in way;
    await writeFile(config, JSON.stringify(isDirect ? { peers: [], ...way } : { peers: way.relays }));
    const host = await PeerProcess.start({
      flags: ['--web', distFolder, '--web-config', config],
      webTransport: 'none',
    });
    const app = new PublishingApp(host, await browser.newContext(), chain, way);
    try {
      await installWallet(app.context, chain);
      const page = await app.#open('');
      if (isDirect)
        await fetchIn(page, '/-/settings', { method: 'PUT', body: JSON.stringify({ useNodes: true }) });
      await page.close();
      return app;
    } catch (error) {
      await app.stop();
      throw error;
    }
  }

  /** A new page in which a file or a folder is chosen, for the network only. */
  async choose(path: string, { isPrivate = false } = {}): Promise<Page> {
    const page = await this.#open('#publish');
    const kind = path.includes('.') ? 'files' : 'folder';
    await page.locator(`input[name=${kind}]`).setInputFiles(path);
    await page.getByRole('radio', { name: isPrivate ? 'Private' : 'Public' }).check();
    await fillNetwork(page, this.chain);
    if ('nodes' in this.way) {
      await page.getByRole('checkbox', { name: /^The network’s nodes, directly/ }).check();
      assert.equal(await foundRelays(page).count(), 0, 'no relay takes part');
    } else {
      await foundRelays(page)
        .nth(this.way.relays.length - 1)
        .waitFor();
    }
    return page;
  }

  /** Deletes the journal. */
  async forgetPayments(): Promise<void> {
    const page = await this.#open('');
    await page.evaluate(
      () =>
        new Promise<void>((resolve, reject) => {
          const request = indexedDB.deleteDatabase('antway-payments');
          request.onsuccess = () => resolve();
          request.onerror = () => reject(request.error);
          request.onblocked = () => reject(new Error('A page still has the journal open.'));
        }),
    );
    await page.close();
  }

  async stop(): Promise<void> {
    await this.context.close();
    await this.host.stop();
  }

  #open(fragment: string): Promise<Page> {
    const root = `http://antway.localhost:${new URL(this.host.url).port}`;
    return openShellIn(this.context, `${root}/${fragment}`);
  }
}
