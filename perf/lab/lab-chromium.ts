import { type BrowserContext, type Browser as Chromium, chromium } from '@playwright/test';
import playwright from '../../playwright.config.ts';
import { stopWorkers } from '../../tests/support/chromium.ts';
import { processorMs } from './inspector.ts';
import { type LabBrowser, type LabPage, labPageOf } from './lab-browser.ts';

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
    return labPageOf(await this.context.newPage(), () => processorMs(this.chromium));
  }

  stopWorkers(): Promise<void> {
    return stopWorkers(this.context.pages()[0]!);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
