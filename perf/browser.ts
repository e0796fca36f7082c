import { type Browser, chromium } from '@playwright/test';
import playwright from '../playwright.config.ts';

/** The Chromium that the browser tests use, with their flags. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch(playwright.use!.launchOptions!);
}
