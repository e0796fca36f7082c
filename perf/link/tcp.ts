import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Deliveries } from './deliveries.ts';
import type { LinkOptions } from './link.ts';
import type { Direction, Port, Way } from './relay.ts';

/** Of a full segment on an Ethernet, and of IPv4 and TCP with timestamps. */
const segmentBytes = 1_448;
const headerBytes = 52;
/** Parts of a stream are delivered by this many segments at once, as a network card would do it. */
const segmentsAtOnce = 4;
const loopback = '127.0.0.1';

export async function relayTcp(way: Way, targetPort: number): Promise<Port> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const target = connect({ port: targetPort, host: loopback, allowHalfOpen: true, noDelay: true });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        if (!socket.readableEnded) other.destroy();
      });
    }
    // The handshake with the relay took no time: its round trip is made up for before the first byte.
    setTimeout(() => {
      pass(way.options, way.up, client, target);
      pass(way.options, way.down, target, client);
    }, 2 * way.options.delayMs);
  });
  server.listen(0, loopback);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      if (server.listening) await once(server, 'close');
    },
  };
}

function pass(options: LinkOptions, { link, deliveries }: Direction, from: Socket, to: Socket): void {
  const { queueMs, delayMs } = options;
  /** Parts of the stream, and `undefined` for its end. */
  const waiting: (Buffer | undefined)[] = [];
  const acknowledgements = new Deliveries();
  let windowBytes = options.tcpWindowBytes ?? Number.POSITIVE_INFINITY;
  let inFlight = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const sendPart = (part: Buffer, nowMs: number) => {
    const headers = Math.ceil(part.length / segmentBytes) * headerBytes;
    const arrivesAtMs = link.segment(part.length + headers, nowMs);
    deliveries.add(arrivesAtMs, () => to.writable && to.write(part));
    inFlight += part.length;
    acknowledgements.add(arrivesAtMs + delayMs, () => {
      inFlight -= part.length;
      windowBytes += part.length;
      if (!timer) send();
    });
  };
  const send = () => {
    timer = undefined;
    while (waiting.length > 0 && (inFlight === 0 || inFlight < windowBytes)) {
      const nowMs = performance.now();
      // The sender is slowed down to the link's rate, as TCP's congestion control would do.
      const aheadMs = link.queuedMs(nowMs) - queueMs;
      if (aheadMs > 0) {
        timer = setTimeout(send, aheadMs);
        break;
      }
      const part = waiting.shift();
      if (part) sendPart(part, nowMs);
      else deliveries.add(link.segment(headerBytes, nowMs), () => to.end());
    }
    if (waiting.length > 0) from.pause();
    else from.resume();
  };
  from.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += segmentsAtOnce * segmentBytes) {
      waiting.push(bytes.subarray(at, at + segmentsAtOnce * segmentBytes));
    }
    if (!timer) send();
  });
  from.on('end', () => {
    waiting.push(undefined);
    if (!timer) send();
  });
  // Now there is no receiver. The sender may close sooner, and all that it has sent still arrives.
  to.on('close', () => {
    acknowledgements.close();
    clearTimeout(timer);
  });
}
