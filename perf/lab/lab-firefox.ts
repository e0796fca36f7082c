import type { Browser } from 'puppeteer-core';
import { evaluateInFirefox, launchFirefox } from '../../tests/support/firefox.ts';
import { type LabBrowser, type LabPage, labPageOf } from './lab-browser.ts';

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
    const processorMs = async () => Number(await evaluateInFirefox(this.browser, allProcessorMs));
    return labPageOf(await this.browser.newPage(), processorMs);
  }

  async stopWorkers(): Promise<void> {
    await evaluateInFirefox(this.browser, stopAllWorkers);
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}
