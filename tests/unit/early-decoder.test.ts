// @module-tag isolated
import 'fake-indexeddb/auto';
import { createStore } from 'idb-keyval';
import { expect, it, vi } from 'vitest';
import { IndexedDbStore } from '../../src/chunks/indexed-db-store.ts';
import { nodePlatform } from '../../src/cli/platform.ts';
import { createGateway } from '../../src/gateway/create-gateway.ts';
import { deploymentAt, embeddedAt } from '../../src/gateway/deployment.ts';
import { Stats } from '../../src/stats/stats.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { encryptedFile } from './support/encrypted-file.ts';
import { contextOf, Network, requestOf } from './support/gateway.ts';

const origin = 'http://127.0.0.1:8080';
let sites = 0;

/** A gateway whose peer has a site that is not stored yet, and has not answered. */
async function startGateway({
  deployment = deploymentAt(origin),
  decoder: brotliDecoderWasm = vi.fn(nodePlatform.brotliDecoderWasm),
} = {}) {
  const note = `Site ${sites++}. `.repeat(1_000);
  const { address, records } = await encryptedFile(await makeTarchive({ 'note.txt': note }));
  const stats = new Stats();
  const network = new Network(records);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  network.beforeAnswer = () => answered;
  const gateway = createGateway(deployment, {
    stats,
    store: new IndexedDbStore(stats),
    state: createStore('antway-decoder', 'settings'),
    platform: { ...nodePlatform, brotliDecoderWasm },
    serverConfig: { stored: async () => undefined, fetch: async () => ({}) },
    peers: () => network,
    notify: () => undefined,
  });
  const ask = () =>
    gateway.handle(requestOf(`${origin}/${address}/note.txt`, {}, 'fetch'), contextOf(origin));
  return { ask, answer: () => answer(), network, brotliDecoderWasm };
}

it('the decoder is loaded while the first chunk is still arriving', async () => {
  const { ask, answer, network, brotliDecoderWasm } = await startGateway();
  const answering = ask();
  await vi.waitFor(() => expect(network.asked).toHaveLength(1));
  expect(brotliDecoderWasm).toHaveBeenCalledOnce();
  answer();
  expect((await answering)!.status).toBe(200);
  expect(brotliDecoderWasm).toHaveBeenCalledOnce();
});

it('a site that embeds the gateway loads it only for a chunk that needs it', async () => {
  const { ask, answer, network, brotliDecoderWasm } = await startGateway({
    deployment: embeddedAt(origin, '/', '/sw.js'),
  });
  const answering = ask();
  await vi.waitFor(() => expect(network.asked).toHaveLength(1));
  expect(brotliDecoderWasm).not.toHaveBeenCalled();
  answer();
  expect((await answering)!.status).toBe(200);
  expect(brotliDecoderWasm).toHaveBeenCalledOnce();
});

it('content opens also if the decoder can be loaded only later', async () => {
  const decoder = vi.fn(nodePlatform.brotliDecoderWasm).mockRejectedValueOnce(new Error('The host is down.'));
  const { ask, answer, network, brotliDecoderWasm } = await startGateway({ decoder });
  const answering = ask();
  await vi.waitFor(() => expect(network.asked).toHaveLength(1));
  answer();
  expect((await answering)!.status).toBe(200);
  expect(brotliDecoderWasm).toHaveBeenCalledTimes(2);
});
