// The same shape through the gateway: each user is a Chromium of its own, in which the worker is installed first. All
// of a user's iterations are in one page, because k6 gives every iteration a new profile, without worker and stores.
import { check } from 'k6';
import { browser } from 'k6/browser';
import { Trend } from 'k6/metrics';

const { host, readerPath, bodies, summary } = JSON.parse(open(__ENV.PLAN));
const users = Number(__ENV.USERS);

export const options = {
  scenarios: {
    users: {
      executor: 'per-vu-iterations',
      vus: users,
      iterations: 1,
      maxDuration: '10m',
      options: { browser: { type: 'chromium' } },
    },
  },
  thresholds: { checks: ['rate==1'] },
  summaryTrendStats: ['med', 'p(95)', 'p(99)'],
};

const readMs = new Trend('antway_read_ms', true);
const megabytesPerSecond = new Trend('antway_megabytes_per_second');

export default async function () {
  const page = await browser.newPage();
  try {
    await page.goto(host);
    await page.waitForFunction("navigator.serviceWorker.controller?.state === 'activated'", {
      timeout: 60_000,
    });
    await page.goto(host + readerPath);
    const { times, isRight } = await page.evaluate(readInPage, bodies, Number(__ENV.ITERATIONS) / users);
    const bytes = bodies.reduce((sum, { size }) => sum + size, 0);
    for (const milliseconds of times) {
      readMs.add(milliseconds);
      megabytesPerSecond.add(bytes / 1000 / milliseconds);
    }
    check(null, { 'has the right bytes': () => isRight });
  } finally {
    await page.close();
  }
}

/** Runs in the page. */
async function readInPage(bodies, iterations) {
  const times = [];
  let isRight = true;
  for (let i = 0; i < iterations; i++) {
    const startedMs = performance.now();
    const got = await Promise.all(
      bodies.map(async ({ path }) => (await fetch(path, { cache: 'no-store' })).arrayBuffer()),
    );
    times.push(performance.now() - startedMs);
    if (i > 0 && i < iterations - 1) continue;
    for (const [j, body] of got.entries()) {
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
      const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
      isRight &&= hex === bodies[j].sha256;
    }
  }
  return { times, isRight };
}

export function handleSummary(data) {
  return { [summary]: JSON.stringify(data) };
}
