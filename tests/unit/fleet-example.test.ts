// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../support/cli-process.ts';
import { fromRoot } from '../support/paths.ts';

const token = 'a-token-of-the-test-that-is-long-enough';

interface Service {
  url: string;
  child: ChildProcess;
}

/** The services of the example as processes, by name. */
const services = new Map<string, Service>();
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'antway-fleet-'));
  for (const [name, environment] of environmentsOf('examples/fleet/compose.yaml')) {
    services.set(name, await start(name, environment));
  }
});

afterAll(async () => {
  await Promise.all([...services.keys()].map(stop));
  rmSync(folder, { recursive: true });
});

/** The variables of each service in a Compose file, in the order of the services. */
function environmentsOf(path: string): Map<string, Record<string, string>> {
  const found = new Map<string, Record<string, string>>();
  const [, text] = /^services:\n([\s\S]*?)^volumes:/m.exec(readFileSync(fromRoot(path), 'utf8'))!;
  for (const block of text!.split(/^(?= {2}\S)/m).filter((block) => block.trim())) {
    const variables = block.matchAll(/^ {6}(ANTWAY_PEER_\w+): (.+)$/gm);
    const [, name] = /^ {2}([\w-]+):\n/.exec(block)!;
    found.set(name!, Object.fromEntries(Array.from(variables, ([, key, value]) => [key, value])));
  }
  return found;
}

/** Starts a service as its container does, but on free ports and in a folder of the test. */
async function start(name: string, environment: Record<string, string>): Promise<Service> {
  const resolved = (text: string) =>
    text
      .replace(/^\$\{ANTWAY_TOKEN\?.*\}$/, token)
      // The name of a service is the name of its host.
      .replace(/^http:\/\/([\w-]+):8080$/, (_, host) => services.get(host)!.url);
  const given = Object.entries(environment).map(([key, value]) => [key, resolved(value)]);
  const child = spawn(fromRoot('peer/target/release/antway-peer'), ['serve'], {
    env: {
      ...process.env,
      ...Object.fromEntries(given),
      ANTWAY_PEER_STORE: join(folder, name),
      ANTWAY_PEER_HTTP: '127.0.0.1:0',
      ANTWAY_PEER_WEBTRANSPORT: '127.0.0.1:0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { url: JSON.parse(line).http, child };
}

async function stop(name: string): Promise<void> {
  const { child } = services.get(name)!;
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

it('the fleet of the example has an origin and two caches', () => {
  expect([...services.keys()]).toEqual(['origin', 'cache-1', 'cache-2']);
});

it('a publisher with the token writes to the origin, and each cache answers readers', async () => {
  const site = fromRoot('tests/sites/sample');
  const publish = (service: string, ...flags: string[]) =>
    runCli(['publish', site, '--peer', services.get(service)!.url, '--json', ...flags]);
  expect((await publish('origin')).code).not.toBe(0);
  expect((await publish('cache-1', '--token', token)).code).not.toBe(0);

  const published = await publish('origin', '--token', token);
  expect(published).toMatchObject({ code: 0 });
  const { address } = JSON.parse(published.stdout);
  for (const service of ['cache-1', 'cache-2']) {
    const { url } = services.get(service)!;
    const read = await runCli(['get', `${address}/tides.html`, '--peer', url]);
    expect(read).toMatchObject({ code: 0, stdout: expect.stringContaining('<title>Tides') });
  }
  // The caches have stored the chunks.
  await stop('origin');
  const { url } = services.get('cache-2')!;
  expect((await runCli(['get', `${address}/tides.html`, '--peer', url])).code).toBe(0);
});
