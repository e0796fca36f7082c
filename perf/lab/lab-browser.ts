import type { Browser as Chromium } from '@playwright/test';

/** A page of the browser that is measured. The functions run in the page, and can use nothing from outside. */
export interface LabPage {
  url(): string;
  goto(url: string): Promise<unknown>;
  evaluate<Result>(run: () => Result | Promise<Result>): Promise<Result>;
  evaluate<Argument, Result>(
    run: (argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ): Promise<Result>;
  /** Resolves when the condition is true in the page. */
  waitForFunction(condition: () => unknown): Promise<unknown>;
  close(): Promise<void>;
  /** Processor time that all processes of the browser which run now have taken so far, in milliseconds. */
  processorMs(): Promise<number>;
}

/** A page of Playwright or puppeteer. */
interface DrivenPage extends Pick<LabPage, 'url' | 'goto' | 'waitForFunction' | 'close'> {
  evaluate<Result>(run: (argument: unknown) => Result | Promise<Result>, argument: unknown): Promise<Result>;
}

/** Gives both kinds of pages one interface. Their types of an argument know handles, which the lab does not pass. */
export function labPageOf(page: DrivenPage, processorMs: () => Promise<number>): LabPage {
  return {
    url: () => page.url(),
    goto: (url) => page.goto(url),
    evaluate: <Argument, Result>(
      run: (argument: Argument) => Result | Promise<Result>,
      argument?: Argument,
    ): Promise<Result> => page.evaluate(run as (argument: unknown) => Result | Promise<Result>, argument),
    waitForFunction: (condition) => page.waitForFunction(condition),
    close: () => page.close(),
    processorMs,
  };
}

/** The browser that is measured, with a profile on disk: databases of a profile in memory would be in memory, too. */
export interface LabBrowser {
  /** Its name and version. */
  readonly version: string;
  /** Its developer tools. Other browsers have none that tell a worker's memory, profile and tasks. */
  readonly chromium: Chromium | undefined;
  newPage(): Promise<LabPage>;
  /** Stops all service workers. The next request starts one again, with nothing in memory. */
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

export const browserNames = ['chromium', 'firefox'] as const;
export type BrowserName = (typeof browserNames)[number];

/** Starts a browser. @param profile the folder of its profile. */
export async function launchLabBrowser(name: BrowserName, profile: string): Promise<LabBrowser> {
  // Each is loaded only if it is measured.
  if (name === 'firefox') return (await import('./lab-firefox.ts')).LabFirefox.launch(profile);
  return (await import('./lab-chromium.ts')).LabChromium.launch(profile);
}
