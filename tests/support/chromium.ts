import {
  type Browser,
  type BrowserContext,
  test as base,
  expect,
  type Page,
  type Route,
} from '@playwright/test';
import { GatewayClient } from './gateway-client.ts';
import type { PeerProcess } from './peer-process.ts';
import {
  type HostConfig,
  type Processes,
  type ProcessFixtures,
  ProcessGroup,
  processes,
} from './processes.ts';

export { type Answer, errorCode, type FetchOptions, fetchIn } from './gateway-client.ts';
export type { HostConfig } from './processes.ts';
export { expect };

interface Fixtures extends ProcessFixtures {
  /** Starts a host and opens its shell in the test's page, or in one of another context. */
  openGateway(config: HostConfig, context?: BrowserContext): Promise<Gateway>;
  /**
   * Starts a host and opens an empty document in place of its shell, in the test's page or in the first page of another
   * context. This takes half the processor time. The document has the shell's URL, so it may use `/-/…`. It lacks:
   *
   * - the app with its screens, and what the app does by itself: connections to nodes and to the origins of sites, updates,
   *   stored files of all screens
   * - the shell's policies: only the worker can refuse what the document loads
   */
  openWorker(config: HostConfig, context?: BrowserContext): Promise<Gateway>;
}

export const test = base.extend<Fixtures>({
  ...processes,

  openGateway: async ({ startHost, page }, use) => {
    await use(async (config, context) => {
      const host = await startHost(config);
      return Gateway.open(host, context ? await context.newPage() : page);
    });
  },

  openWorker: async ({ startHost, page }, use) => {
    await use(async (config, context) => {
      const host = await startHost(config);
      return Gateway.openWorker(host, context ? await context.newPage() : page);
    });
  },
});

/** The parts of a scene that all tests of a file share. They end after the last of these tests. */
export interface SceneParts extends Processes {
  browser: Browser;
  context: BrowserContext;
  /** Starts a host and opens its shell in a new page of the context. */
  openGateway(config: HostConfig): Promise<Gateway>;
  /** As `openWorker` of the fixtures, in a new page of the context. */
  openWorker(config: HostConfig): Promise<Gateway>;
  /** Has something end with the scene, such as a server of the tests' own. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource;
}

/**
 * Prepares one scene for all tests of the file that calls this: processes, a browser context, published content. This saves
 * the start of processes, worker and app for each test. The tests run one after the other in one browser. After a failed test,
 * the next test gets a new scene. After each test, the pages that it opened are closed; storage stays.
 * @param prepare makes the scene. A test must not change what later tests of the file rely on.
 * @returns a function that returns the scene, for the bodies of tests.
 */
export function sceneOfFile<Scene>(prepare: (parts: SceneParts) => Promise<Scene>): () => Scene {
  let shared: SharedScene<Scene> | undefined;
  test.describe.configure({ mode: 'default' });
  test.beforeAll(async ({ browser }) => {
    shared = await SharedScene.prepare(browser, prepare);
  });
  test.afterEach(() => shared?.closeOpened());
  test.afterAll(() => shared?.[Symbol.asyncDispose]());
  return () => shared!.scene;
}

/**
 * As `sceneOfFile`, for a file whose tests need different scenes. Each has processes and a context of its own.
 * @param prepare makes the scene of this name, when a test asks for it first.
 * @returns a function that returns a scene by its name, for the bodies of tests.
 */
export function scenesOfFile<Name extends string, Scene>(
  prepare: (parts: SceneParts, name: Name) => Promise<Scene>,
): (name: Name) => Promise<Scene> {
  const scenes = new Map<Name, Promise<SharedScene<Scene>>>();
  const prepared = async () => (await Promise.allSettled(scenes.values())).flatMap(fulfilled);
  let sharedBrowser: Browser;
  test.describe.configure({ mode: 'default' });
  test.beforeAll(({ browser }) => {
    sharedBrowser = browser;
  });
  test.afterEach(async () => {
    await Promise.all((await prepared()).map((shared) => shared.closeOpened()));
  });
  test.afterAll(async () => {
    await Promise.all((await prepared()).map((shared) => shared[Symbol.asyncDispose]()));
  });
  return async (name) => {
    const shared = scenes.get(name) ?? SharedScene.prepare(sharedBrowser, (parts) => prepare(parts, name));
    scenes.set(name, shared);
    return (await shared).scene;
  };
}

const fulfilled = <T>(result: PromiseSettledResult<T>): T[] =>
  result.status === 'fulfilled' ? [result.value] : [];

/** A scene of several tests, with the processes and the context that end with it. */
class SharedScene<Scene> implements AsyncDisposable {
  readonly #group = new ProcessGroup();
  readonly #resources: AsyncDisposable[] = [this.#group];
  readonly #context: BrowserContext;
  /** The pages that stay open between the tests. */
  #pages: readonly Page[] = [];
  scene!: Scene;

  private constructor(context: BrowserContext) {
    this.#context = context;
  }

  static async prepare<Scene>(
    browser: Browser,
    prepare: (parts: SceneParts) => Promise<Scene>,
  ): Promise<SharedScene<Scene>> {
    const context = await browser.newContext();
    const shared = new SharedScene<Scene>(context);
    const { folder, startPeer, startHost } = shared.#group;
    try {
      shared.scene = await prepare({
        ...{ browser, context, folder, startPeer, startHost },
        openGateway: async (config) => Gateway.open(await startHost(config), await context.newPage()),
        openWorker: async (config) => Gateway.openWorker(await startHost(config), await context.newPage()),
        use: (resource) => {
          shared.#resources.push(resource);
          return resource;
        },
      });
    } catch (error) {
      await shared[Symbol.asyncDispose]();
      throw error;
    }
    shared.#pages = context.pages();
    return shared;
  }

  async closeOpened(): Promise<void> {
    const opened = this.#context.pages().filter((page) => !this.#pages.includes(page));
    await Promise.all(opened.map((page) => page.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
    await Promise.all(this.#resources.map((resource) => resource[Symbol.asyncDispose]()));
  }
}

/** The shell of a gateway in a page whose worker runs. */
export class Gateway extends GatewayClient<Page> {
  static async open(host: PeerProcess, page: Page): Promise<Gateway> {
    await page.goto(host.url);
    await workerRuns(page);
    return new Gateway(host, page);
  }

  /** As `openWorker` of the fixtures. */
  static async openWorker(host: PeerProcess, page: Page): Promise<Gateway> {
    await replaceShell(page, host.url);
    return new GatewayWithoutApp(host, page);
  }

  /** A new page of the same browser profile, at a path of the gateway. */
  async openPage(path: string): Promise<Page> {
    const page = await this.shell.context().newPage();
    await page.goto(this.url + path);
    await openWithoutScripts(page);
    return page;
  }
}

/** A gateway with an empty document in place of its shell. */
class GatewayWithoutApp extends Gateway {
  /** Only the app has the worker store them. */
  protected override async storeFiles(): Promise<void> {}
}

/** Waits until the worker controls the page. */
async function workerRuns(page: Page): Promise<void> {
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
}

/** A new page with the shell at a URL, whose worker runs. */
export async function openShellIn(context: BrowserContext, url: string): Promise<Page> {
  const shell = await context.newPage();
  await shell.goto(url);
  await workerRuns(shell);
  return shell;
}

/** A new page with an empty document in place of the shell, as `openWorker` of the fixtures opens it. */
export async function openWorkerIn(context: BrowserContext, origin: string): Promise<Page> {
  const page = await context.newPage();
  await replaceShell(page, origin);
  return page;
}

/** Opens an empty document at the shell's URL. No worker of the origin may run yet: it would answer with the shell. */
async function replaceShell(page: Page, origin: string): Promise<void> {
  const body = '<!doctype html><title>Antway</title>';
  const answer = (route: Route) => route.fulfill({ contentType: 'text/html', body });
  await page.route(`${origin}/`, answer, { times: 1 });
  await page.goto(origin);
  await page.evaluate(() =>
    navigator.serviceWorker.register('/sw.js', { scope: '/', updateViaCache: 'none' }),
  );
  await workerRuns(page);
}

/** A new page at a URL that leads to a document with this title. */
export async function openTitled(context: BrowserContext, url: string, title: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await expect(page).toHaveTitle(title);
  return page;
}

/**
 * Answers the question that the gateway asks at the first visit to a site that is not trusted, if it asks. On a site's own
 * origin it waits first until the page that starts the worker has led to the site.
 */
export async function openWithoutScripts(page: Page): Promise<void> {
  await expect(page.locator('script[src="/-/site.js"]')).toHaveCount(0);
  const button = page.getByRole('button', { name: 'Open without scripts' });
  if (await button.isVisible())
    await Promise.all([page.waitForURL((url) => !url.pathname.startsWith('/-/')), button.click()]);
}

/** Answers the same question with trust, in its two steps. */
export async function trustSite(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Trust this site' }).click();
  await page.getByRole('button', { name: 'Yes, run its scripts' }).click();
}

/** Stops the origin's service workers at once, as a browser does when it wants the memory. */
export async function stopWorkers(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await session.detach();
}

/** Reloads like Shift-reload: the request goes past the worker, and the new page has no worker. */
export async function hardReload(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const loaded = page.waitForEvent('load');
  await session.send('Page.reload', { ignoreCache: true });
  await loaded;
  await session.detach();
}
