import type { IncomingHttpHeaders } from 'node:http';
import type { BrowserContext, Page } from '@playwright/test';
import { expect, type Gateway, type HostConfig } from '../support/chromium.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';

/** A script that says in the console that it ran. */
export const ran = (what: string) => `console.log('RAN ${what}')`;

/** A picture of 7 by 7 pixels. */
export const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';

/**
 * Unregisters the workers of a site's own origin. Its documents hide the worker, and a frame has the browser's own
 * functions. @returns how many.
 */
export function unregisterByFrame(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    const { getRegistrations } = (frame.contentWindow as unknown as typeof globalThis).ServiceWorkerContainer
      .prototype;
    const registrations = await getRegistrations.call(navigator.serviceWorker);
    await Promise.all(registrations.map((registration) => registration.unregister()));
    return registrations.length;
  });
}

type Open = (config: HostConfig) => Promise<Gateway>;

/** The fixtures of a test. */
export interface Parts {
  startPeer(): Promise<PeerProcess>;
  openGateway: Open;
}

/** The fixtures of a test with the shell, or of a test that needs only the worker. */
type SceneParts = Parts | (Pick<Parts, 'startPeer'> & { openWorker: Open });

/** A gateway with a peer that holds sites. */
export class Scene {
  private constructor(
    readonly gateway: Gateway,
    readonly context: BrowserContext,
    private readonly peer: PeerProcess,
    /** Everything that scripts say, in every page, frame and worker. */
    readonly messages: readonly string[],
  ) {}

  static async open(parts: SceneParts): Promise<Scene> {
    const peer = await parts.startPeer();
    const open = 'openWorker' in parts ? parts.openWorker : parts.openGateway;
    const gateway = await open({ peers: [peer.url] });
    const context = gateway.shell.context();
    const messages: string[] = [];
    context.on('console', (message) => {
      if (message.text().startsWith('RAN ')) messages.push(message.text());
    });
    return new Scene(gateway, context, peer, messages);
  }

  /** Publishes a site and decides on it. @returns its address. */
  async publish(files: Files, decision?: 'trusted' | 'restricted'): Promise<string> {
    const address = await publish(await makeTarchive(files), this.peer);
    if (decision) await this.decide(address, decision);
    return address;
  }

  async decide(address: string, decision: 'trusted' | 'restricted'): Promise<void> {
    const status = await this.gateway.shell.evaluate(
      async (body) => (await fetch('/-/trust', { method: 'POST', body })).status,
      JSON.stringify({ address, decision }),
    );
    expect(status).toBe(204);
  }

  /**
   * Opens a path of the gateway in a new page.
   * @param until `load` for pages with scripts: an answer that a script does not read to its end keeps a page busy.
   */
  async visit(path: string, until: 'load' | 'networkidle' = 'networkidle'): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(this.gateway.url + path);
    await page.waitForLoadState(until);
    return page;
  }
}

/** A request that reached the outside. */
export interface Hit {
  path: string;
  headers: IncomingHttpHeaders;
}

/** A server of another origin, which content may not reach. Answers everything with an empty page of its own. */
export class Outside implements AsyncDisposable {
  private constructor(
    private readonly server: LoopbackServer,
    /** In the order in which they came. Those for the browser's icon are left out. */
    readonly hits: Hit[],
  ) {}

  static async start(): Promise<Outside> {
    const hits: Hit[] = [];
    const server = await LoopbackServer.start((request, response) => {
      const path = request.url!.slice(1);
      if (path !== 'favicon.ico') hits.push({ path, headers: request.headers });
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>Outside</title>');
    });
    return new Outside(server, hits);
  }

  get url(): string {
    return this.server.url;
  }

  /** Paths that were asked for, without their slash, each once. */
  get reached(): string[] {
    return [...new Set(this.hits.map(({ path }) => path))].sort();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}
