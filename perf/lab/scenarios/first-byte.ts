import { bufferAccess } from '../../../src/util/random-access.ts';
import { noise } from '../../../tests/support/publish.ts';
import { firstByteMs } from '../../link/measure.ts';
import { peerPorts, RelayClient } from '../../link/relay-client.ts';
import { noiseFiles } from '../content.ts';
import type { Lab } from '../lab.ts';
import type { Case, Scenario } from '../scenario.ts';

/** A page that was never opened before, from a peer that is some way off. */
export const coldOpen: Scenario = {
  name: 'cold-open',
  summary:
    'Time to the first byte of a page in a tarchive of 8 pages and 11 KB that was never opened, on a session that ' +
    'is up, over a relay that makes each round trip so long (100 Mbit/s).',
  measure: 'time',
  rounds: 5,
  async setUp(lab) {
    const cases: Case[] = [];
    for (const rttMs of lab.pick([0, 20, 50, 100], [0, 50], [0, 20]))
      cases.push(await coldOpenCase(lab, rttMs));
    return cases;
  },
};

async function coldOpenCase(lab: Lab, rttMs: number): Promise<Case> {
  const relay = await RelayClient.start({
    link: { delayMs: rttMs / 2, loss: 0, bitsPerSecond: 100e6, queueMs: Math.max(rttMs, 50), seed: 1 },
    peers: [peerPorts(lab.peer)],
    isRealTime: false,
  });
  lab.onClose(() => relay.stop());
  const gateway = await lab.openGateway({
    peerUrl: `http://127.0.0.1:${relay.ports.peers[0]!.webtransport}`,
  });
  const pageBytes = 512;
  let seed = 20;
  let path: string;
  return {
    name: `round trip of ${rttMs} ms`,
    role: 'gateway',
    async prepare() {
      const { address } = await lab.publishArchive(
        noiseFiles(seed++ + rttMs, Array(8).fill(pageBytes), 'html'),
      );
      path = `/${address}/00004.html`;
      await gateway.connect();
    },
    async run() {
      const before = await gateway.stats();
      const milliseconds = await firstByteMs(gateway.page, path);
      const after = await gateway.stats();
      const cameBy = (stats: typeof before) =>
        stats.peers.reduce((sum, peer) => sum + peer.webtransport.chunks, 0);
      if (cameBy(after) <= cameBy(before)) throw new Error('The page did not come by WebTransport.');
      return { bytes: pageBytes, requests: 1, milliseconds };
    },
  };
}

/** A worker that the browser has stopped, as it does after half a minute. */
export const boot: Scenario = {
  name: 'boot',
  summary:
    'Time from a request that starts the worker to the first byte of a page of 10 KB, which is on disk; and of a ' +
    'worker that has nothing to do but to start.',
  measure: 'time',
  rounds: 15,
  targets: [{ case: 'page on disk', atMost: 100 }],
  async setUp(lab) {
    const pageBytes = 10_000;
    const { address } = await lab.publish(bufferAccess(noise(77, pageBytes)));
    const gateway = await lab.openGateway();
    const ceilingPage = await lab.openBaseline('ceiling');
    const path = `/${address}`;
    return [
      {
        name: 'page on disk',
        role: 'gateway',
        async prepare() {
          await firstByteMs(gateway.page, path);
          await gateway.settled();
          await gateway.stopWorker();
        },
        async run() {
          const milliseconds = await firstByteMs(gateway.page, path);
          const { requests, chunks, peers } = await gateway.stats();
          if (requests.total !== 1) throw new Error('The worker was running already.');
          if (chunks.disk.count === 0) throw new Error('The page was not on disk.');
          if (peers.some(({ webtransport, http }) => webtransport.chunks + http.chunks > 0)) {
            throw new Error('The page did not come from disk alone.');
          }
          return { bytes: pageBytes, requests: 1, milliseconds };
        },
      },
      {
        name: 'worker alone',
        role: 'ceiling',
        prepare: () => gateway.stopWorker(),
        async run() {
          const milliseconds = await firstByteMs(ceilingPage, `/ceiling/page?zeros=${pageBytes}`);
          return { bytes: pageBytes, requests: 1, milliseconds };
        },
      },
    ];
  },
};
