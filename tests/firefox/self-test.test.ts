import { expect } from 'vitest';
import type { Report } from '../../src/site-pages/self-test/report.ts';
import { checksOf, reportText, withSample } from '../support/self-test.ts';
import { test } from './harness.ts';

test('the page that tests the browser finds that Firefox has all that the gateway needs', async ({
  browser,
  startPeer,
  startHost,
}) => {
  const host = await startHost(await withSample(await startPeer()));
  const page = await browser.newPage();
  await page.goto(`${host.url}/-/self-test`);
  await page.waitForFunction(reportText, { timeout: 60_000 });
  const report: Report = JSON.parse((await page.evaluate(reportText))!);
  // WebRTC needs a network interface besides loopback.
  const problems = report.results.filter(({ id, state }) => state !== 'passed' && id !== 'webRtc');
  expect(problems).toEqual([]);
  expect(checksOf(report, 'passed')).toEqual(expect.arrayContaining(['webTransport', 'content']));
  expect(report.browser).toMatchObject({ userAgent: expect.stringContaining('Firefox'), hints: null });
});
