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

/** Members of puppeteer's connection that its types lack. */
interface BidiConnection {
  connection: {
    send(method: string, parameters: object): Promise<{ result: Record<string, unknown> }>;
  };
}

/**
 * Evaluates an expression with the rights of Firefox itself, and waits for its promise.
 * @returns its value, if it is a primitive one.
 * @throws Error if it throws.
 */
export async function evaluateInFirefox(browser: Browser, expression: string): Promise<unknown> {
  const { connection } = browser as Browser & BidiConnection;
  const tree = await connection.send('browsingContext.getTree', { 'moz:scope': 'chrome' });
  const [{ context }] = tree.result.contexts as [{ context: string }];
  const { result } = await connection.send('script.evaluate', {
    expression,
    target: { context },
    awaitPromise: true,
  });
  const { type, exceptionDetails } = result as { type: string; exceptionDetails?: { text: string } };
  if (type !== 'success') throw new Error(`Firefox cannot evaluate it: ${exceptionDetails?.text}`);
  return (result.result as { value?: unknown }).value;
}
