import { chromium } from '@playwright/test';
import puppeteer from 'puppeteer-core';
import playwright from '../../playwright.config.ts';
import type { MeasuringPage } from './page.ts';
import type { Ask, Measurement } from './worker.ts';

/** A browser with a profile on disk: a private window stores in memory. */
export interface MeasuringBrowser {
  /** Its name and version. */
  name: string;
  /** Opens the measuring page, whose origin then has no database. */
  open(url: string): Promise<MeasuringTab>;
  close(): Promise<void>;
}

export interface MeasuringTab {
  measure(ask: Ask): Promise<Measurement>;
  close(): Promise<void>;
}

/** The functions of a page that the benchmarks use, with every driver. */
interface DrivenPage {
  goto(url: string): Promise<unknown>;
  waitForFunction(isSo: () => boolean): Promise<unknown>;
  evaluate<Argument, Result>(
    work: (argument: Argument) => Promise<Result>,
    argument: Argument,
  ): Promise<Result>;
  close(): Promise<void>;
}

export async function launchChromium(profile: string): Promise<MeasuringBrowser> {
  const context = await chromium.launchPersistentContext(profile, playwright.use!.launchOptions!);
  return {
    name: `Chromium ${context.browser()!.version()}`,
    open: async (url) => openTab((await context.newPage()) as DrivenPage, url),
    close: () => context.close(),
  };
}

/** The one that `ANTWAY_FIREFOX` names, or Debian's. */
export async function launchFirefox(profile: string): Promise<MeasuringBrowser> {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.ANTWAY_FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    userDataDir: profile,
    // Of one measurement in the page, which may take minutes.
    protocolTimeout: 1_800_000,
  });
  return {
    name: await browser.version(),
    open: async (url) => openTab((await browser.newPage()) as unknown as DrivenPage, url),
    close: () => browser.close(),
  };
}

async function openTab(page: DrivenPage, url: string): Promise<MeasuringTab> {
  await page.goto(url);
  await page.waitForFunction(() => 'measuringPage' in globalThis);
  await page.evaluate(async () => {
    for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name!);
  }, undefined);
  return {
    measure: (ask) =>
      page.evaluate(
        (ask) => (globalThis as unknown as { measuringPage: MeasuringPage }).measuringPage.measure(ask),
        ask,
      ),
    close: () => page.close(),
  };
}
