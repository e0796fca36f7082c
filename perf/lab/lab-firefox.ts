import type { Browser, Page } from 'puppeteer-core';
import { evaluateInFirefox, launchFirefox } from '../../tests/support/firefox.ts';
import type { LabBrowser, LabPage } from './lab-browser.ts';

/** Stops the workers of all registrations, as the developer tools' page of workers does. */
const stopAllWorkers = `(async () => {
  const manager = Cc['@mozilla.org/serviceworkers/manager;1'].getService(Ci.nsIServiceWorkerManager);
  const registrations = manager.getAllRegistrations();
  for (let i = 0; i < registrations.length; i++) {
    const { activeWorker } = registrations.queryElementAt(i, Ci.nsIServiceWorkerRegistrationInfo);
    await activeWorker?.terminateWorker();
  }
})()`;

/** Milliseconds of processor time of Firefox's processes, which it knows in nanoseconds. */
const allProcessorMs = `ChromeUtils.requestProcInfo().then(({ cpuTime, children }) =>
  children.reduce((sum, child) => sum + child.cpuTime, cpuTime) / 1e6)`;

/** Debian's Firefox, as in the tests in Firefox. */
export class LabFirefox implements LabBrowser {
  readonly chromium = undefined;

  private constructor(
    private readonly browser: Browser,
    readonly version: string,
  ) {}

  static async launch(profile: string): Promise<LabFirefox> {
    const browser = await launchFirefox(profile);
    // It is “firefox/153.0”.
    const version = (await browser.version()).replace(/^firefox\//, 'Firefox ');
    return new LabFirefox(browser, version);
  }

  async newPage(): Promise<LabPage> {
    return new FirefoxPage(this.browser, await this.browser.newPage());
  }

  async stopWorkers(): Promise<void> {
    await evaluateInFirefox(this.browser, stopAllWorkers);
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

class FirefoxPage implements LabPage {
  constructor(
    private readonly browser: Browser,
    private readonly page: Page,
  ) {}

  url(): string {
    return this.page.url();
  }

  goto(url: string): Promise<unknown> {
    return this.page.goto(url);
  }

  evaluate<Argument, Result>(
    run: (argument: Argument) => Result | Promise<Result>,
    argument?: Argument,
  ): Promise<Result> {
    return this.page.evaluate(run as (argument: unknown) => Result | Promise<Result>, argument);
  }

  waitForFunction(condition: () => unknown): Promise<unknown> {
    return this.page.waitForFunction(condition);
  }

  close(): Promise<void> {
    return this.page.close();
  }

  async processorMs(): Promise<number> {
    return Number(await evaluateInFirefox(this.browser, allProcessorMs));
  }
}
