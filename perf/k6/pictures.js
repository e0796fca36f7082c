// AntTP's own shape of load, by HTTP: users who each get the same pictures again and again, those of a page at once.
// Run by main.ts, which says where the pictures are.
import { check } from 'k6';
import crypto from 'k6/crypto';
import exec from 'k6/execution';
import http from 'k6/http';

/** `{ urls: [{ url, size, sha256 }], … }`: what a user gets in each iteration. */
const { bodies, summary } = JSON.parse(open(__ENV.PLAN));

export const options = {
  scenarios: {
    users: {
      executor: 'shared-iterations',
      vus: Number(__ENV.USERS),
      iterations: Number(__ENV.ITERATIONS),
      maxDuration: '10m',
    },
  },
  thresholds: { checks: ['rate==1'] },
  summaryTrendStats: ['med', 'p(95)', 'p(99)'],
};

export default function () {
  const answers = http.batch(bodies.map(({ url }) => ['GET', url, null, { responseType: 'binary' }]));
  // All sizes; the hashes of the first of each user, since hashing takes the time that is measured.
  const isFirst = exec.vu.iterationInScenario === 0;
  for (const [i, { status, body }] of answers.entries()) {
    const { size, sha256 } = bodies[i];
    check(null, {
      'has the right size': () => status === 200 && body.byteLength === size,
      ...(isFirst && { 'has the right bytes': () => crypto.sha256(body, 'hex') === sha256 }),
    });
  }
}

export function handleSummary(data) {
  return { [summary]: JSON.stringify(data) };
}
