import puppeteer, { type Browser } from 'puppeteer-core';

/**
 * Starts the Firefox that `ANTWAY_FIREFOX` names (`npm test` sets it), or Debian's.
 * @param isPrivate whether all of its windows are.
 */
export function launchFirefox(profile: string, { isPrivate = false } = {}): Promise<Browser> {
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.ANTWAY_FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    userDataDir: profile,
    timeout: 60_000,
    // For `setOffline`.
    args: ['--remote-allow-system-access'],
    extraPrefsFirefox: {
      // Media play without a click, as muted ones do for people.
      'media.autoplay.default': 0,
      'browser.privatebrowsing.autostart': isPrivate,
    },
  });
}
