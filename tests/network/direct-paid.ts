import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { payButton, price } from '../support/payment-screen.ts';
import { noise } from '../support/publish.ts';
import { TestChain } from '../support/test-chain.ts';
import { Devnet, killAll } from './devnet.ts';
import { moveFromPage, nameFromPage } from './lasting.ts';
import { NetworkPeer } from './network-peer.ts';
import { payMeanwhile, publishForNothing, publishFromPage } from './publish-from-page.ts';
import { makeSite, readBack, siteFiles } from './published.ts';
import { PublishingApp } from './publishing-app.ts';
import type { Row } from './rows.ts';

const step = 'paid upload, browser → nodes';
/** More than the twenty that may store a chunk. */
const nodeCount = 25;
const fileBytes = 40_000_000;
/** Of more than 64 chunks, so that one payment covers most of them. */
const largeBytes = 270_000_000;

/**
 * A page brings what its wallet pays for to the nodes by WebRTC Direct, also the states of a lasting address, and the chunks
 * of a large file, which one payment covers. The gateway's host is no relay, and the gateway has no peers. A fresh peer reads
 * everything back from the nodes.
 */
export async function publishThroughNodes(browser: Browser, folder: string): Promise<Row[]> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const chain = await TestChain.start();
    stops.push(() => chain.stop());
    const network = await Devnet.start(nodeCount, join(folder, 'direct-paid-nodes'), { chain });
    stops.push(() => network.stop());
    const seeds = network.nodes.slice(0, 2).map(({ browserAddress }) => browserAddress);
    const app = await PublishingApp.start(browser, folder, chain, { nodes: seeds });
    stops.push(() => app.stop());
    const bootstrapFile = join(folder, 'direct-paid-network.txt');
    await writeFile(bootstrapFile, `${network.bootstrap.join('\n')}\n`);
    const read = async (target: string, path: string) => {
      const peer = await NetworkPeer.start(bootstrapFile);
      stops.push(() => peer.stop());
      await peer.reached('connected');
      return readBack(peer, target, path, folder);
    };

    const site = join(folder, 'direct-site');
    await makeSite(site, 'direct');
    const [film, secret, other] = await Promise.all(
      ['film', 'secret', 'other'].map(async (name, i) => {
        const path = join(folder, `direct-${name}.bin`);
        await writeFile(path, noise(11 + i, fileBytes));
        return path;
      }),
    );

    /** Publishes a file whose chunks are paid for together. */
    const publishLarge = async (): Promise<Row> => {
      const path = join(folder, 'direct-large.bin');
      await writeFile(path, noise(14, largeBytes));
      const page = await app.choose(path);
      const published = await publishFromPage(page, chain, async () => {
        assert.match((await price(page).textContent())!, /One payment covers 64 chunks/);
        await payButton(page).click();
      });
      await page.close();
      const bytes = await read(published.target, path);
      const item = `a file of ${largeBytes / 1e6} MB, with one payment for 64 chunks`;
      return { step, item, bytes, seconds: published.seconds };
    };

    const rows: Row[] = [];
    const name = 'Garden';
    let address = '';
    const file = `file of ${fileBytes / 1e6} MB`;
    for (const { item, path, isPrivate } of [
      { item: `a site of ${siteFiles} files`, path: site, isPrivate: false },
      { item: `a ${file}`, path: film!, isPrivate: false },
      { item: `a private ${file}`, path: secret!, isPrivate: true },
    ]) {
      const page = await app.choose(path, { isPrivate });
      const { target, seconds } = await publishFromPage(page, chain);
      rows.push({ step, item, bytes: await read(target, path), seconds });
      if (path === site) {
        const named = await nameFromPage(page, chain, name);
        address = named.address;
        const bytes = await read(address, site);
        rows.push({ step, item: 'a lasting address of the site', bytes, seconds: named.seconds });
      } else if (!isPrivate) {
        const moved = await moveFromPage(page, chain, name);
        const bytes = await read(address, path);
        rows.push({ step, item: 'the address leads to the file', bytes, seconds: moved });
      }
      await page.close();
      if (isPrivate) continue;

      // The nodes know what is stored: also a browser without a journal pays nothing.
      await app.forgetPayments();
      const second = await app.choose(path);
      const again = await publishForNothing(second, chain);
      assert.equal(again.target, target);
      await second.close();
      rows.push({ step: `${step}, again`, item, seconds: again.seconds });
    }
    rows.push(await publishLarge());
    const page = await app.choose(other!);
    const dying = [network.nodes[0]!, network.nodes[3]!];
    const { target, seconds } = await publishFromPage(page, chain, () =>
      payMeanwhile(page, chain, () => killAll(dying)),
    );
    rows.push({
      step: `${step}, ${dying.length} of ${nodeCount} killed meanwhile`,
      item: `a ${file}`,
      bytes: await read(target, other!),
      seconds,
    });
    return rows;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}
