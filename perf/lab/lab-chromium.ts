import { type BrowserContext, type Browser as Chromium, chromium, type Page } from '@playwright/test';
import playwright from '../../playwright.config.ts';
import { stopWorkers } from '../../tests/support/chromium.ts';
import { processorMs } from './inspector.ts';
import type { LabBrowser, LabPage } from './lab-browser.ts';

/** The Chromium that the browser tests use, with their flags. */
export class LabChromium implements LabBrowser {
  private constructor(private readonly context: BrowserContext) {}

  static async launch(profile: string): Promise<LabChromium> {
    return new LabChromium(await chromium.launchPersistentContext(profile, playwright.use!.launchOptions!));
  }

  get chromium(): Chromium {
    return this.context.browser()!;
  }

  get version(): string {
    return `Chromium ${this.chromium.version()}`;
  }

  async newPage(): Promise<LabPage> {
    return new ChromiumPage(await this.context.newPage());
  }

  stopWorkers(): Promise<void> {
    return stopWorkers(this.context.pages()[0]!);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

class ChromiumPage implements LabPage {
  constructor(private readonly page: Page) {}

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
    // Playwright's type of the argument would know handles, which the lab does not pass.
    return this.page.evaluate(run as (argument: unknown) => Result | Promise<Result>, argument);
  }

  waitForFunction(condition: () => unknown): Promise<unknown> {
    return this.page.waitForFunction(condition);
  }

  close(): Promise<void> {
    return this.page.close();
  }

  processorMs(): Promise<number> {
    return processorMs(this.page.context().browser()!);
  }
}
