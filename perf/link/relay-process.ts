// The relay runs in its own process, so that the measuring process does not delay it. Speaks by Node's IPC.
import { execFileSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { infoProxy } from '../../tests/support/info-proxy.ts';
import { LinkRelay } from './relay.ts';
import type { RelayPorts, RelayRequest, RelayTally, TransportName } from './relay-messages.ts';

/** The operation that the other transport lacks. */
const open = 5;

process.once('message', async ({ link, peers, hosts = [], isRealTime }: RelayRequest) => {
  if (isRealTime) execFileSync('chrt', ['--fifo', '--pid', '1', String(process.pid)]);
  const relay = new LinkRelay(link);
  const ports: RelayPorts = {
    peers: await Promise.all(peers.map((peer) => relayPeer(relay, peer))),
    hosts: await Promise.all(hosts.map((port) => relay.tcp(port))),
  };
  const lateness = monitorEventLoopDelay({ resolution: 2 });
  lateness.enable();
  process.on('message', () => {
    // The histogram has the whole interval, of which 2 ms were asked for.
    const tally: RelayTally = { ...relay.tally, lateMs: lateness.percentile(99) / 1e6 - 2 };
    process.send!(tally);
  });
  process.send!(ports);
});
// The process that started it is gone, or has had enough.
process.once('disconnect', () => process.exit());

async function relayPeer(
  relay: LinkRelay,
  { httpPort, webTransportPort }: RelayRequest['peers'][number],
): Promise<Record<TransportName, number>> {
  const port = await relay.udp(webTransportPort);
  const transport = async (operations: (known: number[]) => number[], hasWebTransport = true) => {
    const proxy = await infoProxy(`http://127.0.0.1:${httpPort}`, (info) => ({
      ...info,
      operations: operations(info.operations),
      webTransport: hasWebTransport ? { ...info.webTransport, port } : null,
    }));
    return relay.tcp(proxy.port);
  };
  return {
    webtransport: await transport((known) => known),
    'webtransport-get': await transport((known) => known.filter((operation) => operation !== open)),
    http: await transport((known) => known, false),
  };
}
