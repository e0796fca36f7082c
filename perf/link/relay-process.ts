// The relay in a process of its own, so that what measures does not hold it up. Speaks by Node's IPC.
import { spawnSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { infoProxy } from './info-proxy.ts';
import type { LinkOptions, LinkTally } from './link.ts';
import { LinkRelay } from './relay.ts';

/** How the gateway gets its chunks: GET and OPEN over WebTransport, GET alone, or HTTP. */
export const faces = ['webtransport', 'webtransport-get', 'http'] as const;
export type FaceName = (typeof faces)[number];

/** The first message to the process. */
export interface RelayRequest {
  link: LinkOptions;
  httpPort: number;
  webTransportPort: number;
}

/** Its answer: ports of HTTP faces which offer what their names say. */
export type RelayPorts = Record<FaceName, number>;

/** The answer to any later message. */
export interface RelayTally {
  up: LinkTally;
  down: LinkTally;
  /** How late the relay was at most in 99 % of the time, for want of a processor. */
  lateMs: number;
}

/** The operation that the other face lacks. */
const open = 5;

// A link does not wait for a processor: real time where that is allowed (Linux, root). Where it is not, how late the
// relay was is told, and shows whether it matters.
spawnSync('chrt', ['--fifo', '--pid', '1', String(process.pid)]);

process.once('message', async ({ link, httpPort, webTransportPort }: RelayRequest) => {
  const relay = new LinkRelay(link);
  const port = await relay.udp(webTransportPort);
  const face = async (operations: (known: number[]) => number[], hasWebTransport = true) => {
    const proxy = await infoProxy(httpPort, (info) => ({
      ...info,
      operations: operations(info.operations),
      webTransport: hasWebTransport ? { ...info.webTransport, port } : null,
    }));
    return relay.tcp(proxy.port);
  };
  const ports: RelayPorts = {
    webtransport: await face((known) => known),
    'webtransport-get': await face((known) => known.filter((operation) => operation !== open)),
    http: await face((known) => known, false),
  };
  const lateness = monitorEventLoopDelay({ resolution: 2 });
  lateness.enable();
  process.on('message', () => {
    // What the histogram holds is the whole interval, of which 2 ms were asked for.
    const tally: RelayTally = { ...relay.tally, lateMs: lateness.percentile(99) / 1e6 - 2 };
    process.send!(tally);
  });
  process.send!(ports);
});
// The process that started it is gone, or has had enough.
process.once('disconnect', () => process.exit());
