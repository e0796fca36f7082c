import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Builder, By, error, until, type WebDriver, type WebElement } from 'selenium-webdriver';
import { DriverService } from 'selenium-webdriver/remote';
import { test as base } from 'vitest';
import { createProfile, removeProfile } from '../support/browser-profile.ts';
import { type DrivenPage, GatewayClient } from '../support/gateway-client.ts';
import { fromRoot } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { type ProcessFixtures, processes } from '../support/processes.ts';

/** A display for browsers that have none, on a number of its own. */
class Display {
  private constructor(
    private readonly child: ChildProcess,
    readonly name: string,
  ) {}

  static async start(): Promise<Display> {
    const child = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const number = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`Xvfb exited with ${code}`)));
    });
    return new Display(child, `:${number}`);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}

/** A tab of the browser. One at a time is the driver's current one, so calls to several have to wait for each other. */
export class Page implements DrivenPage {
  constructor(
    readonly browser: WebKit,
    private readonly driver: WebDriver,
    private readonly handle: string,
  ) {}

  async goto(url: string): Promise<void> {
    await (await this.#current()).get(url);
  }

  async url(): Promise<string> {
    return (await this.#current()).getCurrentUrl();
  }

  async title(): Promise<string> {
    return (await this.#current()).getTitle();
  }

  /** Runs a function that is complete in itself. Rejects with the text of what it throws. */
  async evaluate<Result, Argument>(
    run: (argument: Argument) => Result | Promise<Result>,
    argument?: Argument,
  ): Promise<Result> {
    const driver = await this.#current();
    const answer = await driver.executeAsyncScript<{ value: Result } | { error: string }>(
      `const [argument, done] = arguments;
      Promise.resolve(argument).then(${run}).then((value) => done({ value }), (error) => done({ error: String(error) }));`,
      argument,
    );
    if ('error' in answer) throw new Error(answer.error);
    return answer.value;
  }

  /** Asks a function in the page again and again until it says yes. */
  async waitFor(isSo: () => boolean): Promise<void> {
    while (!(await this.evaluate(isSo))) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  /** Clicks what has this text, once it is there, and waits for the page that it leads to. */
  async follow(text: string): Promise<void> {
    const driver = await this.#current();
    const target = By.xpath(`//*[self::a or self::button][normalize-space()="${text}"]`);
    const element = await driver.wait(until.elementLocated(target));
    await element.click();
    await driver.wait(() => isGone(element));
  }

  /** All text that the page shows. */
  async text(): Promise<string> {
    return (await this.#current()).findElement(By.css('body')).getText();
  }

  async #current(): Promise<WebDriver> {
    await this.driver.switchTo().window(this.handle);
    return this.driver;
  }
}

/** Whether the page of an element was replaced. While it is being replaced, the driver's answers have other errors. */
async function isGone(element: WebElement): Promise<boolean> {
  try {
    await element.getTagName();
    return false;
  } catch (reason) {
    if (reason instanceof error.WebDriverError) return reason instanceof error.StaleElementReferenceError;
    throw reason;
  }
}

/** A WebKitGTK with a profile in a folder, and its driver. */
export class WebKit {
  private constructor(
    private readonly display: Display,
    private readonly service: DriverService,
    private readonly driver: WebDriver,
  ) {}

  static async launch(profile: string): Promise<WebKit> {
    const display = await Display.start();
    const service = new DriverService.Builder('/usr/bin/WebKitWebDriver')
      .setLoopback(true)
      .setEnvironment({
        ...(process.env as Record<string, string>),
        DISPLAY: display.name,
        NO_AT_BRIDGE: '1',
      })
      .build();
    try {
      const driver = await new Builder()
        .usingServer(await service.start())
        .withCapabilities({
          browserName: 'antway-webkit',
          'webkitgtk:browserOptions': { binary: fromRoot('tests/webkit/browser.py'), args: [profile] },
        })
        .build();
      await driver.manage().setTimeouts({ script: 60_000, pageLoad: 60_000 });
      return new WebKit(display, service, driver);
    } catch (error) {
      await service.kill();
      await display.stop();
      throw error;
    }
  }

  async newPage(): Promise<Page> {
    await this.driver.switchTo().newWindow('tab');
    return new Page(this, this.driver, await this.driver.getWindowHandle());
  }

  async close(): Promise<void> {
    await this.driver.quit();
    await this.service.kill();
    await this.display.stop();
  }
}

/** The shell of a gateway in a page whose worker runs. */
export class Gateway extends GatewayClient<Page> {
  static async open(host: PeerProcess, browser: WebKit): Promise<Gateway> {
    const shell = await browser.newPage();
    await shell.goto(host.url);
    await shell.waitFor(() => navigator.serviceWorker.controller?.state === 'activated');
    return new Gateway(host, shell);
  }

  /** Opens a path of the gateway in a new page. */
  async openPage(path: string): Promise<Page> {
    const page = await this.shell.browser.newPage();
    await page.goto(this.url + path);
    return page;
  }
}

interface Fixtures extends ProcessFixtures {
  /** Starts a host with these peers and opens its shell. */
  openGateway(...peers: PeerProcess[]): Promise<Gateway>;
}

/** With one browser for all tests of a file: each has an origin of its own. */
export const test = base.extend<Fixtures & { browser: WebKit }>({
  ...processes,

  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
    async ({}, use) => {
      const profile = createProfile();
      const browser = await WebKit.launch(profile);
      await use(browser);
      await browser.close();
      await removeProfile(profile);
    },
    { scope: 'file' },
  ],

  openGateway: async ({ startHost, browser }, use) => {
    await use(async (...peers) =>
      Gateway.open(await startHost({ peers: peers.map(({ url }) => url) }), browser),
    );
  },
});
