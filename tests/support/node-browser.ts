import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from '@playwright/test';
import { build } from 'vite';
import playwright from '../../playwright.config.ts';
import type { NodePage } from '../browser/node-page/node-page.ts';
import type { Kind } from '../browser/node-page/page-node.ts';
import { fromRoot } from './paths.ts';
import { StaticHost } from './static-host.ts';

declare const nodePage: NodePage;

/** The end of the name of a function that a client's page calls. */
export const acceptElsewhere = 'acceptElsewhere';

/** Nodes in a page of a Chromium of their own, for clients in pages of other browsers. */
export class NodeBrowser {
  private constructor(
    private readonly browser: Browser,
    private readonly host: StaticHost,
    private readonly page: Page,
    private readonly web: string,
    /** The multiaddresses of the nodes. */
    readonly addresses: readonly string[],
    /** The addresses of the chunks, in the order of their sizes. */
    readonly chunks: readonly string[],
  ) {}

  /** @param kinds one for each node. @param sizes of the chunks that all honest nodes have. */
  static async start(kinds: readonly Kind[], sizes: readonly number[]): Promise<NodeBrowser> {
    const web = mkdtempSync(join(tmpdir(), 'antway-node-page-'));
    await build({
      configFile: false,
      root: fromRoot('tests/browser/node-page'),
      logLevel: 'error',
      build: { outDir: web, target: 'es2022', modulePreload: false },
    });
    const { launchOptions } = playwright.use!;
    const browser = await chromium.launch({
      ...launchOptions,
      // They tell the client the addresses of this computer.
      args: [...(launchOptions!.args ?? []), '--disable-features=WebRtcHideLocalIpsWithMdns'],
    });
    const host = await StaticHost.start({ folders: [web] });
    const page = await browser.newPage();
    await page.goto(host.url);
    await page.waitForFunction(() => 'nodePage' in globalThis);
    const chunks = await page.evaluate(([kinds, sizes]) => nodePage.start(kinds, sizes), [
      kinds,
      sizes,
    ] as const);
    const addresses = await page.evaluate(() => nodePage.addresses());
    return new NodeBrowser(browser, host, page, web, addresses, chunks);
  }

  /** The page of the nodes, which has a client as well. */
  get url(): string {
    return this.host.url;
  }

  /** Expose this as {@link acceptElsewhere} to the page of a client. */
  accept = (port: number, offer: string, credential: string): Promise<[string, number]> =>
    this.page.evaluate(([port, offer, credential]) => nodePage.accept(port, offer, credential), [
      port,
      offer,
      credential,
    ] as const);

  /** Ends a node and its connections. */
  async stopNode(i: number): Promise<void> {
    await this.page.evaluate((i) => nodePage.stop(i), i);
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.host.stop();
    rmSync(this.web, { recursive: true, force: true });
  }
}
