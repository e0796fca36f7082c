import { expect } from 'vitest';
import type { Report } from '../../src/site-pages/self-test/report.ts';
import { checksOf, reportText, withSample } from '../support/self-test.ts';
import { test } from './harness.ts';

test('the page that tests the browser finds that WebKit has all but WebTransport and WebRTC', async ({
  browser,
  startPeer,
  startHost,
}) => {
  const host = await startHost(await withSample(await startPeer()));
  const page = await browser.newPage();
  await page.goto(`${host.url}/-/self-test`);
  await page.waitFor(() => document.getElementById('report') !== null);
  const report: Report = JSON.parse((await page.evaluate(reportText))!);
  expect(checksOf(report, 'failed')).toEqual([]);
  expect(checksOf(report, 'skipped')).toEqual([]);
  expect(checksOf(report, 'missing')).toEqual(expect.arrayContaining(['webTransport']));
  expect(checksOf(report, 'passed')).toEqual(
    expect.arrayContaining(['serviceWorker', 'indexedDb', 'streams', 'webCrypto', 'http', 'content']),
  );
});
