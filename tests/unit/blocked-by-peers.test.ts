// @module-tag isolated
import 'fake-indexeddb/auto';
import { createStore } from 'idb-keyval';
import { expect, it, onTestFinished } from 'vitest';
import { IndexedDbStore } from '../../src/chunks/indexed-db-store.ts';
import { nodePlatform } from '../../src/cli/platform.ts';
import { createGateway } from '../../src/gateway/create-gateway.ts';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { en } from '../../src/gateway/pages/texts/en.ts';
import { Stats } from '../../src/stats/stats.ts';
import { contextOf, requestOf } from './support/gateway.ts';
import { startHttpPeer } from './support/http-peer.ts';

const origin = 'http://127.0.0.1:8080';
const address = 'ab'.repeat(32);

/** A peer that is connected to a network, and answers requests for records with one status. */
const startPeer = (status: number) =>
  startHttpPeer(({ url }, response) => {
    const network = { name: 'mainnet', state: 'connected', peers: 3 };
    if (url === '/-/info') response.end(JSON.stringify({ protocol: 1, network }));
    else response.writeHead(status).end();
  });

function startGateway(peers: string[]) {
  const stats = new Stats();
  const gateway = createGateway(deploymentAt(origin), {
    stats,
    store: new IndexedDbStore(stats),
    state: createStore('antway-blocked', 'settings'),
    platform: nodePlatform,
    serverConfig: { stored: async () => undefined, fetch: async () => ({ peers, transport: 'http' }) },
    notify: () => undefined,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

it('the page of an address that the only peer has blocked names the next steps', async () => {
  const denies = await startPeer(451);
  const gateway = startGateway([denies.url]);
  const request = requestOf(`${origin}/${address}`, {}, 'document');
  const answer = (await gateway.handle(request, contextOf(origin)))!;
  expect(answer.status).toBe(451);
  const page = await answer.text();
  expect(page).toContain(`<li><code>${denies.url}</code>: ${en.network.blocks}</li>`);
  expect(page).toContain(en.network.addPeer);
  expect(page).toContain(en.network.run);
  expect(page).toContain(`<a href="">${en.tryAgain}</a>`);
});

it('the page of an address that one peer has blocked and another has not found offers another try', async () => {
  const peers = [await startPeer(451), await startPeer(404)];
  const gateway = startGateway(peers.map(({ url }) => url));
  const request = requestOf(`${origin}/${address}`, {}, 'document');
  const answer = (await gateway.handle(request, contextOf(origin)))!;
  expect(answer.status).toBe(451);
  const page = await answer.text();
  expect(page).toContain(`<a class="primary" href="">${en.tryAgain}</a>`);
  expect(page).toContain('connected to the network “mainnet” through 3 nodes');
  expect(page).not.toContain(en.network.run);
});
