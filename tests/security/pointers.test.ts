import { Address } from '../../src/address.ts';
import { expect, type Gateway, stopWorkers } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { PointerOwner } from '../support/pointers.ts';
import { publish } from '../support/publish.ts';
import { attack } from './attack.ts';

const group = 'Pointers';
const finalCounter = 2n ** 64n - 1n;
/** The name that was transferred. The former owner still has its key. */
const name = new PointerOwner(31);
const path = `/${name.address.hex}`;

/** Publishes two texts at both peers. @returns the addresses, the smaller one first. */
async function publishTexts(peers: PeerProcess[]): Promise<{ small: Address; large: Address }> {
  const addresses = ['one text', 'another text'].map(async (text) => {
    const published = await Promise.all(peers.map((peer) => publish(Buffer.from(text), peer)));
    return Address.fromHex(published[0]!);
  });
  const [a, b] = (await Promise.all(addresses)) as [Address, Address];
  return a.hex < b.hex ? { small: a, large: b } : { small: b, large: a };
}

/** Which address the name leads to, asked anew by a worker that has only its storage. */
async function leadsTo(gateway: Gateway, { small, large }: { small: Address; large: Address }) {
  await stopWorkers(gateway.shell);
  const text = async (of: string) => (await gateway.fetch(of)).text;
  const found = await text(path);
  for (const address of [small, large]) if (found === (await text(`/${address.hex}`))) return address.hex;
  return found;
}

attack(
  group,
  'a former owner serves a smaller target with the final counter, after the new state was seen',
  'the name still leads to the new owner’s target',
  async ({ startPeer, openWorker }) => {
    const [honest, former] = [await startPeer(), await startPeer()];
    const texts = await publishTexts([honest, former]);
    honest.putPointer(name.address.hex, name.sign(finalCounter, texts.large));
    const gateway = await openWorker({ peers: [honest.url, former.url] });
    expect(await leadsTo(gateway, texts)).toBe(texts.large.hex);

    former.putPointer(name.address.hex, name.sign(finalCounter, texts.small));
    expect(await leadsTo(gateway, texts)).toBe(texts.large.hex);
    await gateway.settled();
    await honest.kill();
    expect(await leadsTo(gateway, texts)).toBe(texts.large.hex);
  },
);

attack(
  group,
  'a former owner serves another kind of target with the final counter, after the new state was seen',
  'the name still leads to the new owner’s target',
  async ({ startPeer, openWorker }) => {
    const [honest, former] = [await startPeer(), await startPeer()];
    const texts = await publishTexts([honest, former]);
    const newOwner = new PointerOwner(32);
    honest.putPointer(newOwner.address.hex, newOwner.sign(1n, texts.large));
    honest.putPointer(name.address.hex, name.sign(finalCounter, newOwner.address, 'pointer'));
    const gateway = await openWorker({ peers: [honest.url, former.url] });
    expect(await leadsTo(gateway, texts)).toBe(texts.large.hex);

    former.putPointer(name.address.hex, name.sign(finalCounter, texts.small, 'chunk'));
    expect(await leadsTo(gateway, texts)).toBe(texts.large.hex);
  },
  { tag: '@full' },
);

attack(
  group,
  'a former owner serves a smaller target with the final counter to a browser that has not seen the name',
  'the name leads to the target of most peers',
  async ({ startPeer, openWorker }) => {
    const peers = [await startPeer(), await startPeer(), await startPeer()];
    const texts = await publishTexts(peers);
    const [former, ...honest] = peers as [PeerProcess, ...PeerProcess[]];
    former.putPointer(name.address.hex, name.sign(finalCounter, texts.small));
    for (const peer of honest) peer.putPointer(name.address.hex, name.sign(finalCounter, texts.large));
    const gateway = await openWorker({ peers: peers.map(({ url }) => url) });
    expect(await leadsTo(gateway, texts)).toBe(texts.large.hex);
  },
  { tag: '@full' },
);
