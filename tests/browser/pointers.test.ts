import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { errorCode, expect, type Gateway, stopWorkers, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { PointerOwner } from '../support/pointers.ts';
import { publish } from '../support/publish.ts';

const owner = new PointerOwner(21);
const path = `/${owner.address.hex}`;

/** Publishes a text at a peer and signs that it is the newest. */
async function say(text: string, counter: bigint, peer: PeerProcess): Promise<Uint8Array> {
  const record = owner.sign(counter, Address.fromHex(await publish(Buffer.from(text), peer)));
  peer.putPointer(owner.address.hex, record);
  return record;
}

/** Writes pointers that no site uses, and when all were used: the real one first. */
function changeSettings(gateway: Gateway, { real, fakes }: { real: string; fakes: string[] }): Promise<void> {
  return gateway.shell.evaluate(
    async ([real, fakes]) => {
      const request = indexedDB.open('antway');
      await new Promise((resolve) => request.addEventListener('success', resolve));
      const transaction = request.result.transaction('settings', 'readwrite');
      const settings = transaction.objectStore('settings');
      for (const address of fakes) settings.put(new Uint8Array(8), `pointer:${address}`);
      const noted = fakes.map((address, i) => [address, 1_000 + i] as const);
      settings.put(Object.fromEntries([[real, 999], ...noted]), 'pointers-used');
      await new Promise((resolve) => transaction.addEventListener('complete', resolve));
      request.result.close();
    },
    [real, fakes] as const,
  );
}

/** The addresses of the stored pointers, sorted. */
function storedPointers(gateway: Gateway): Promise<string[]> {
  return gateway.shell.evaluate(async () => {
    const request = indexedDB.open('antway');
    await new Promise((resolve) => request.addEventListener('success', resolve));
    const keys = request.result.transaction('settings').objectStore('settings').getAllKeys();
    await new Promise((resolve) => keys.addEventListener('success', resolve));
    request.result.close();
    return keys.result
      .map(String)
      .filter((key) => key.startsWith('pointer:'))
      .map((key) => key.slice(8));
  });
}

const textAt = async (gateway: Gateway) => (await gateway.fetch(path)).text;

test('a pointer leads to the newest version of several peers, and a seen version opens without them', {
  tag: '@smoke',
}, async ({ startPeer, openWorker }) => {
  const [behind, ahead] = [await startPeer(), await startPeer()];
  await say('the old text', 1n, behind);
  await say('the new text', 2n, ahead);
  const gateway = await openWorker({ peers: [behind.url, ahead.url] });
  expect(await textAt(gateway)).toBe('the new text');

  // The list shows the version that was visited.
  await gateway.openPage(path);
  const sites = async () => JSON.parse((await gateway.fetch('/-/sites')).text).sites as { path: string }[];
  await expect.poll(sites).toMatchObject([{ path, kind: 'file' }]);

  // A worker that knows only the stored pointers finds a newer one.
  await stopWorkers(gateway.shell);
  await say('the newest text', 3n, ahead);
  expect(await textAt(gateway)).toBe('the newest text');

  // No way back, without any peer.
  await gateway.settled();
  await ahead.kill();
  await stopWorkers(gateway.shell);
  expect(await textAt(gateway)).toBe('the newest text');
  await behind.kill();
  await stopWorkers(gateway.shell);
  expect(await textAt(gateway)).toBe('the newest text');

  // A user who begins anew does not know it any more.
  await gateway.fetch('/-/reset', { method: 'POST', body: '{"chunks":true}' });
  expect(errorCode(await gateway.fetch(path))).toBe('PEERS_UNREACHABLE');
});

test('a browser stores a bounded number of pointers, and drops the least recently used', {
  tag: '@full',
}, async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  await say('the text', 1n, peer);
  const other = new PointerOwner(22);
  peer.putPointer(
    other.address.hex,
    other.sign(1n, Address.fromHex(await publish(Buffer.from('another text'), peer))),
  );
  const gateway = await openWorker({ peers: [peer.url] });
  expect(await textAt(gateway)).toBe('the text');
  await gateway.settled();

  // As many as can be. The real one was used least recently.
  const fake = (i: number) => i.toString(16).padStart(64, '0');
  const fakes = Array.from({ length: limits.storedPointers - 1 }, (_, i) => fake(i));
  await changeSettings(gateway, { real: owner.address.hex, fakes });
  await stopWorkers(gateway.shell);
  // Used again.
  expect(await textAt(gateway)).toBe('the text');
  expect((await gateway.fetch(`/${other.address.hex}`)).text).toBe('another text');
  await expect
    .poll(() => storedPointers(gateway))
    .toEqual([owner.address.hex, other.address.hex, ...fakes.slice(1)].sort());
  expect(await storedPointers(gateway)).toHaveLength(limits.storedPointers);
});

test('a pointer record without the owner’s signature leads nowhere', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const [liar, honest] = [await startPeer(), await startPeer()];
  await say('the text', 1n, honest);
  const forged = Uint8Array.from(await say('another text', 2n, liar));
  forged[5302]! ^= 1;
  liar.putPointer(owner.address.hex, forged);
  const gateway = await openWorker({ peers: [liar.url, honest.url] });
  expect(await textAt(gateway)).toBe('the text');
  await honest.kill();
  expect(await textAt(gateway)).toBe('the text');
  const alone = await openWorker({ peers: [liar.url] });
  expect(errorCode(await alone.fetch(path))).toBe('NOT_FOUND');
});
