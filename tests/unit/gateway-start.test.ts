// @module-tag isolated
import { cpuUsage } from 'node:process';
import { expect, it } from 'vitest';
import { deploymentAt, embeddedAt } from '../../src/gateway/deployment.ts';
import { contextOf, requestOf, startGateway } from './support/gateway.ts';

const origin = 'https://gateway.example';

/** In milliseconds, so that a busy machine does not change it. */
function processorTime(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}

/** Builds a gateway with its storage in memory, and the objects of its configuration, which the first request needs. */
async function build(deployment: Parameters<typeof startGateway>[0], path: string): Promise<number> {
  const before = processorTime();
  const gateway = startGateway(deployment);
  const answer = await gateway.handle(requestOf(origin + path, {}, 'fetch'), contextOf(origin));
  const needed = processorTime() - before;
  expect(answer!.status).toBe(200);
  gateway.close();
  return needed;
}

it.each([
  ['a gateway of its own', deploymentAt(origin), '/-/config'],
  ['a gateway in a site', embeddedAt(origin, '/ant/', '/antway-sw.js'), '/ant/-/config'],
])('%s is built in less than 50 ms of processor time', async (_, deployment, path) => {
  const times: number[] = [];
  for (let i = 0; i < 9; i++) times.push(await build(deployment, path));
  const median = times.toSorted((a, b) => a - b)[4]!;
  console.log(`median of ${times.map((time) => time.toFixed(1)).join(', ')} ms: ${median.toFixed(1)} ms`);
  expect(median).toBeLessThan(50);
});
