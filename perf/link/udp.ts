import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Direction, Port, Way } from './relay.ts';

/** Of IPv4 and UDP. */
const headerBytes = 28;
/** The kernel may give less. Packets that do not fit while the relay is not scheduled are lost without being counted. */
const socketBufferBytes = 4 * 1024 * 1024;
const loopback = '127.0.0.1';

export async function relayUdp({ up, down }: Way, targetPort: number): Promise<Port> {
  const front = await bound();
  /** One socket per client, so that the target tells clients apart by their port, and answers find their way. */
  const backs = new Map<number, Promise<Socket>>();

  const openBack = async (clientPort: number): Promise<Socket> => {
    const back = await bound();
    back.on('message', (datagram) => pass(down, datagram, () => front.send(datagram, clientPort, loopback)));
    return back;
  };
  front.on('message', async (datagram, { port: clientPort }) => {
    const arrivedMs = performance.now();
    let back = backs.get(clientPort);
    if (!back) {
      back = openBack(clientPort);
      backs.set(clientPort, back);
    }
    const socket = await back;
    pass(up, datagram, () => socket.send(datagram, targetPort, loopback), arrivedMs);
  });

  return {
    port: (front.address() as AddressInfo).port,
    async close() {
      const sockets = [front, ...(await Promise.all(backs.values()))];
      await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
    },
  };
}

function pass(
  { link, deliveries }: Direction,
  { length }: Uint8Array,
  send: () => void,
  nowMs = performance.now(),
): void {
  const atMs = link.datagram(length + headerBytes, nowMs);
  if (atMs !== undefined) deliveries.add(atMs, send);
}

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('error', () => undefined); // an ICMP refusal: like a real link, the relay drops packets without a receiver
  socket.bind(0, loopback);
  await once(socket, 'listening');
  socket.setRecvBufferSize(socketBufferBytes);
  socket.setSendBufferSize(socketBufferBytes);
  return socket;
}
