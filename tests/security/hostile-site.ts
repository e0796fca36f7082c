import type { IncomingHttpHeaders } from 'node:http';
import type { BrowserContext, Page } from '@playwright/test';
import { expect, type Gateway, scenesOfFile } from '../support/chromium.ts';
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

/**
 * Resolves when every script that a page with scripts would run by itself has had its turn: the pictures of the page and of its
 * frames have loaded or failed, and the browser has drawn twice since.
 */
export async function hadItsTurn(page: Page): Promise<void> {
  await page.waitForLoadState();
  await page.evaluate(async () => {
    const frames = Array.from(document.querySelectorAll('iframe'), ({ contentDocument }) => contentDocument);
    const pictures = [document, ...frames].flatMap((each) => Array.from(each?.images ?? []));
    const isOver = (picture: HTMLImageElement) =>
      picture.complete ||
      new Promise((resolve) => {
        picture.addEventListener('load', resolve);
        picture.addEventListener('error', resolve);
      });
    await Promise.all(pictures.map(isOver));
    const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await drawn();
    await drawn();
  });
}

/** A gateway with a peer that holds sites. The attacks of a file share it. */
export class Scene {
  #published = 0;

  private constructor(
    readonly gateway: Gateway,
    readonly context: BrowserContext,
    private readonly peer: PeerProcess,
    /** Everything that scripts have said since the attack began, in every page, frame and worker. */
    readonly messages: string[],
  ) {}

  static of(gateway: Gateway, peer: PeerProcess): Scene {
    const context = gateway.shell.context();
    const messages: string[] = [];
    context.on('console', (message) => {
      if (message.text().startsWith('RAN ')) messages.push(message.text());
    });
    return new Scene(gateway, context, peer, messages);
  }

  /**
   * Publishes a site and decides on it. Each site has a file that no other site has: equal files of two attacks would have
   * one address, and the decision of the first attack would count in the second.
   * @returns its address.
   */
  async publish(files: Files, decision?: 'trusted' | 'restricted'): Promise<string> {
    const number = { 'number.txt': String(++this.#published) };
    const address = await publish(await makeTarchive({ ...files, ...number }), this.peer);
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

  /** Opens a path of the gateway in a new page, by a link of the gateway, and waits until it is settled. */
  async visit(path: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(this.gateway.url + path, { referer: `${this.gateway.url}/` });
    await this.settled(page);
    return page;
  }

  /**
   * Resolves when a page has loaded, with its files and frames, and the browser has drawn twice since. The shell tells the
   * latter: a page without scripts cannot.
   */
  async settled(page: Page): Promise<void> {
    await page.waitForLoadState();
    await hadItsTurn(this.gateway.shell);
  }
}

/**
 * Declares the scenes of a file's attacks: one with the app, and one that has only the worker. @returns a function for the
 * bodies of attacks, which returns a scene without messages.
 */
export function scenesOfAttacks(): (kind: 'app' | 'worker') => Promise<Scene> {
  const scenes = scenesOfFile(async ({ startPeer, openGateway, openWorker }, kind: 'app' | 'worker') => {
    const peer = await startPeer();
    const open = kind === 'app' ? openGateway : openWorker;
    return Scene.of(await open({ peers: [peer.url] }), peer);
  });
  return async (kind) => {
    const scene = await scenes(kind);
    scene.messages.length = 0;
    return scene;
  };
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

  /** As `reached`, once a new page has come here: earlier requests have arrived by then, too. */
  async reachedSoFar(context: BrowserContext): Promise<string[]> {
    const page = await context.newPage();
    await page.goto(`${this.url}/last`);
    await page.close();
    expect(this.reached).toContain('last');
    return this.reached.filter((path) => path !== 'last');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}
