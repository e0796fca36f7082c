import { expect } from 'vitest';
import { LookingPeer } from '../support/looking-peer.ts';
import { publish } from '../support/publish.ts';
import { patient, test } from './support/node-gateway.ts';

test('a request of a page waits for a lookup', async ({ startPeer, openGateway }) => {
  const peer = await startPeer({ webTransport: 'none' });
  await using looking = await LookingPeer.start(peer);
  const address = await publish(Buffer.from('Dear reader'), peer);
  const gateway = await openGateway({ peers: [looking.url] });
  const answering = gateway.fetch(`/${address}`);
  await expect.poll(() => looking.busyAnswers, patient).toBeGreaterThan(1);
  looking.find();
  expect(await answering).toMatchObject({ status: 200, text: 'Dear reader' });
});
