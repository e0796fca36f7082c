// @module-tag isolated
import { packTar, unpackTar } from 'modern-tar';
import { expect } from 'vitest';
import type { ListedPin } from '../../src/library/pin-state.ts';
import { publishManyChunks } from '../support/many-chunks.ts';
import { type NodeGateway, patient, test } from './support/node-gateway.ts';

const complete = { state: 'complete', activity: 'idle', problem: null } as const;

/** A peer that is not there. */
const nowhere = 'http://127.0.0.1:9';

async function importFile(gateway: NodeGateway, body: Uint8Array<ArrayBuffer>) {
  const { status, text } = await gateway.fetch('/-/import', { method: 'POST', body });
  return { status, json: JSON.parse(text) };
}

const pin = (gateway: NodeGateway, address: string) =>
  gateway.fetch('/-/pins', { method: 'POST', body: JSON.stringify({ address, action: 'pin' }) });

async function expectPin(gateway: NodeGateway, address: string, wanted: Partial<ListedPin>): Promise<void> {
  const find = async () =>
    (JSON.parse((await gateway.fetch('/-/pins')).text).pins as ListedPin[]).find(
      (listed) => listed.address === address,
    );
  await expect.poll(find, patient).toMatchObject(wanted);
}

const entry = (name: string, data: Uint8Array) => ({
  header: { name, size: data.length, type: 'file' as const },
  body: new Uint8Array(data),
});

test('wrong chunks are refused by name, and a good copy brings the rest', async ({
  startPeer,
  openGateway,
}) => {
  const peer = await startPeer({ webTransport: 'none' });
  const site = await publishManyChunks(peer, 60);
  const here = await openGateway({ peers: [peer.url] });
  expect((await pin(here, site.address)).status).toBe(200);
  await expectPin(here, site.address, complete);
  const good = new Uint8Array(await (await here.response(`/-/export?address=${site.address}`)).arrayBuffer());

  const members = await unpackTar(new Uint8Array(good));
  const [wrong, large] = [members[10]!, members[20]!];
  wrong.data![7]! ^= 1;
  const bad = await packTar([
    ...members.map((member) =>
      member === large ? entry(member.header.name, new Uint8Array(4_194_305)) : member,
    ),
    entry('notes.txt', new Uint8Array(3)),
  ]);
  const there = await openGateway({ peers: [nowhere] });
  const first = await importFile(there, new Uint8Array(bad));
  expect(first).toMatchObject({ status: 200, json: { chunks: 58 } });
  expect(first.json.refused).toEqual([
    { name: wrong.header.name, reason: expect.stringContaining('hash') },
    { name: large.header.name, reason: expect.stringContaining('4194304') },
    { name: 'notes.txt', reason: expect.stringContaining('name') },
  ]);
  await expectPin(there, site.address, { state: 'partial', activity: 'waiting' });
  await expectRest(there);

  // Half a file brings what is whole in it, and says that it is damaged.
  const elsewhere = await openGateway({ peers: [nowhere] });
  const half = await importFile(elsewhere, good.slice(0, good.length / 2));
  expect(half).toMatchObject({ status: 502, json: { code: 'CORRUPT' } });
  await expectRest(elsewhere);

  async function expectRest(gateway: NodeGateway): Promise<void> {
    const { status, json } = await importFile(gateway, good);
    expect({ status, json }).toMatchObject({ status: 200, json: { chunks: 60, refused: [] } });
    await expectPin(gateway, site.address, { ...complete, chunks: { stored: 60, total: 60 } });
    expect((await gateway.cache()).count).toBe(60);
  }
});

test('a file that is not an exported site is refused with the reason', async ({ openGateway }) => {
  const gateway = await openGateway({ peers: [nowhere], denied: ['de'.repeat(32)] });
  const described = (description: object) =>
    packTar([entry('antway-site.json', Buffer.from(JSON.stringify(description)))]);
  const site = { format: 'antway-site', version: 1, address: 'ab'.repeat(32) };
  const cases = [
    [Buffer.from('no tar at all'.repeat(200)), 501, 'UNSUPPORTED'],
    [Buffer.alloc(0), 501, 'UNSUPPORTED'],
    [await packTar([entry('a.txt', new Uint8Array(4))]), 501, 'UNSUPPORTED'],
    [await packTar([entry('antway-site.json', new Uint8Array(4))]), 501, 'UNSUPPORTED'],
    [await described({ ...site, format: 'x' }), 501, 'UNSUPPORTED'],
    [await described({ ...site, version: 3 }), 501, 'UNSUPPORTED'],
    [await described({ ...site, address: 'x' }), 501, 'UNSUPPORTED'],
    [await described({ ...site, address: 'de'.repeat(32) }), 451, 'DENIED'],
  ] as const;
  for (const [file, status, code] of cases) {
    expect(await importFile(gateway, new Uint8Array(file))).toMatchObject({ status, json: { code } });
  }
  expect(JSON.parse((await gateway.fetch('/-/sites')).text).sites).toEqual([]);
});

test('a pin of content that no peer has waits with the reason', async ({ startPeer, openGateway }) => {
  const peer = await startPeer({ webTransport: 'none' });
  const gateway = await openGateway({ peers: [peer.url] });
  const nothing = '00'.repeat(32);
  await pin(gateway, nothing);
  await expectPin(gateway, nothing, {
    state: 'partial',
    activity: 'waiting',
    problem: expect.objectContaining({ code: 'NOT_FOUND' }),
  });
});
