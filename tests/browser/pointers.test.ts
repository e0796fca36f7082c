import { Address } from '../../src/address.ts';
import { PointerOwner } from '../unit/support/pointers.ts';
import { errorCode, expect, type Gateway, stopWorkers, test } from './harness.ts';
import type { PeerProcess } from './peer.ts';
import { publish } from './publish.ts';

const owner = new PointerOwner(21);
const path = `/${owner.address.hex}`;

/** Publishes a text at a peer and signs that it is the newest. */
async function say(text: string, counter: bigint, peer: PeerProcess): Promise<Uint8Array> {
  const record = owner.sign(counter, Address.fromHex(await publish(Buffer.from(text), peer)));
  peer.putPointer(owner.address.hex, record);
  return record;
}

const textAt = async (gateway: Gateway) => (await gateway.fetch(path)).text;

test('a pointer leads to the newest of what several peers give, and what was seen opens without them', async ({
  startPeer,
  openGateway,
}) => {
  const [behind, ahead] = [await startPeer(), await startPeer()];
  await say('the old text', 1n, behind);
  await say('the new text', 2n, ahead);
  const gateway = await openGateway({ peers: [behind.url, ahead.url] });
  expect(await textAt(gateway)).toBe('the new text');

  // What was visited is listed as what it was.
  await gateway.openPage(path);
  const sites = async () => JSON.parse((await gateway.fetch('/-/sites')).text).sites as { path: string }[];
  await expect.poll(sites).toMatchObject([{ path, kind: 'file' }]);

  // A newer one is found by a worker that knows nothing but what it kept.
  await stopWorkers(gateway.shell);
  await say('the newest text', 3n, ahead);
  expect(await textAt(gateway)).toBe('the newest text');

  // No way back, for whoever is left.
  await gateway.settled();
  await ahead.kill();
  await stopWorkers(gateway.shell);
  expect(await textAt(gateway)).toBe('the newest text');
  await behind.kill();
  await stopWorkers(gateway.shell);
  expect(await textAt(gateway)).toBe('the newest text');

  // A person who begins anew does not know it any more.
  await gateway.fetch('/-/reset', { method: 'POST', body: '{"chunks":true}' });
  expect(errorCode(await gateway.fetch(path))).toBe('PEERS_UNREACHABLE');
});

test('a peer that gives what the owner did not sign leads nowhere', async ({ startPeer, openGateway }) => {
  const [liar, honest] = [await startPeer(), await startPeer()];
  await say('the text', 1n, honest);
  const forged = Uint8Array.from(await say('another text', 2n, liar));
  forged[5302]! ^= 1;
  liar.putPointer(owner.address.hex, forged);
  const gateway = await openGateway({ peers: [liar.url, honest.url] });
  expect(await textAt(gateway)).toBe('the text');
  await honest.kill();
  expect(await textAt(gateway)).toBe('the text');
  const alone = await openGateway({ peers: [liar.url] });
  expect(errorCode(await alone.fetch(path))).toBe('NOT_FOUND');
});
