import { expect, it } from 'vitest';
import { freePort } from '../support/loopback-server.ts';

/** Linux and macOS choose ports from 32768 and 49152 on. */
const firstChosen = 32_768;

it('a free port is none that the system gives to other programs', async () => {
  const ports = await Promise.all(Array.from({ length: 30 }, freePort));
  for (const port of ports) expect(port).toBeLessThan(firstChosen);
  expect(new Set(ports).size).toBeGreaterThan(20);
});
