// @module-tag slow
// @module-tag unix
import { expect } from 'vitest';
import { hostile, lies } from '../support/hostile.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { anttpChunks, anttpFixture, memberHashes, sha256 } from '../support/tar.ts';
import { type NodeGateway, test, textsOf } from './support/node-gateway.ts';

const { address, tar } = anttpFixture('tarchive_site');

for (const [fault, does] of Object.entries(lies)) {
  test(`a peer that ${does} is named and banned, and none of its bytes reach the page`, async ({
    startPeer,
    openGateway,
  }) => {
    const liar = await startPeer({ ...hostile(fault), webTransport: 'none' });
    await liar.putFixture('anttp/tarchive_site');
    const gateway = await openGateway({ peers: [liar.url] });

    const page = await gateway.open(`/${address}/`);
    expect(page.status).toBe(502);
    expect(page.text).toContain('Code <code>CORRUPT</code>');
    expect(textsOf(page.text, 'table')[0]).toContain(liar.url);

    const answer = await gateway.fetch(`/${address}/`);
    const { code, details } = JSON.parse(answer.text);
    expect([answer.status, code]).toEqual([502, 'CORRUPT']);
    expect(details.attempts).toMatchObject([{ peer: liar.url, code: 'CORRUPT' }]);
    const [tally] = (await gateway.stats()).peers;
    expect(Object.keys(tally!.http.failures)).toEqual(['CORRUPT']);
    expect(tally!.corrupt).toBeGreaterThan(0);
    await expectStates(gateway, { [liar.url]: 'banned' });
    expect((await gateway.cache()).count).toBe(0);
  });

  test(`an honest peer makes up for one that ${does}`, async ({ startPeer, openGateway }) => {
    const [liar, honest] = await Promise.all([
      startPeer({ ...hostile(fault), webTransport: 'none' }),
      startPeer({ webTransport: 'none' }),
    ]);
    const fixtures = ['tarchive_site', 'tarchive_many300', 'tarchive_as_coded_2', 'tiny3'];
    for (const fixture of fixtures) {
      await Promise.all([liar, honest].map((peer) => peer.putFixture(`anttp/${fixture}`)));
    }
    const gateway = await openGateway({ peers: [liar.url, honest.url] });
    expect((await gateway.fetch(`/${address}/`)).sha256).toBe((await memberHashes(tar))['index.html']);
    // Each record has its own order of peers: of these, some are the liar's to answer first.
    for (const [record, bytes] of fixtures.flatMap(anttpChunks)) {
      const answer = await gateway.fetch(`/${record}?format=raw`);
      expect([answer.status, answer.sha256]).toEqual([200, sha256(bytes)]);
    }
    await expectStates(gateway, { [liar.url]: 'banned', [honest.url]: 'http' });
    // Perhaps more than once: what was under way when it was caught ends as it must.
    const tally = (await gateway.stats()).peers.find(({ url }) => url === liar.url);
    expect(tally!.corrupt).toBeGreaterThan(0);
  });
}

test('a body fails instead of ending early if a peer lies in the middle of a file', async ({
  startPeer,
  openGateway,
}) => {
  const size = 30_000_000;
  const liar = await startPeer({ ...hostile('flip', '--honest-first', '8'), webTransport: 'none' });
  const large = await publish(new RepeatingFile(size), liar);
  const gateway = await openGateway({ peers: [liar.url] });
  const response = await gateway.response(`/${large}`);
  const declared = Number(response.headers.get('Content-Length'));
  expect([response.status, declared]).toEqual([200, size]);
  let received = 0;
  const readAll = async () => {
    for await (const piece of response.body!) received += piece.length;
  };
  await expect(readAll()).rejects.toThrow();
  expect(received).toBeGreaterThan(0);
  expect(received).toBeLessThan(size);
});

async function expectStates(gateway: NodeGateway, expected: Record<string, string>): Promise<void> {
  const states = Object.fromEntries((await gateway.peers()).map(({ url, state }) => [url, state]));
  expect(states).toEqual(expected);
}
