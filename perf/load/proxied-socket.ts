import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The address from which a trusted proxy connects to the peer. */
export const proxyAddress = '127.0.0.2';

/** Where a peer listens on loopback. */
export interface Listener {
  port: number;
  /** The only certificate to trust (PEM). Undefined for a peer with plain HTTP, which knows no proxies. */
  certificate?: string;
}

/**
 * Connects as a client of a proxy with the PROXY protocol, version 2, and TLS, or directly to a peer with plain HTTP.
 * Errors only close the socket.
 */
export async function connectAs(client: string, { port, certificate }: Listener): Promise<Socket> {
  const localAddress = certificate === undefined ? undefined : proxyAddress;
  const tcp = connect({ port, host: '127.0.0.1', localAddress });
  tcp.on('error', () => undefined);
  await Promise.race([once(tcp, 'connect'), once(tcp, 'close')]);
  if (certificate === undefined) return tcp;
  tcp.write(proxyHeader(client));
  const socket = connectTls({
    socket: tcp,
    ca: certificate,
    servername: 'localhost',
    ALPNProtocols: ['http/1.1'],
  });
  socket.on('error', () => undefined);
  tcp.once('close', () => socket.destroy());
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => undefined);
  return socket;
}

function proxyHeader(client: string): Buffer {
  const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
  // Version 2, the command PROXY, TCP over IPv4, and 12 bytes of addresses and ports.
  const head = Buffer.from([0x21, 0x11, 0, 12]);
  const addresses = Buffer.from([...client.split('.').map(Number), 127, 0, 0, 1, 0x10, 0, 0x20, 0]);
  return Buffer.concat([signature, head, addresses]);
}

export function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

/** The status and the length of the next complete answer. Undefined when the connection ended before. */
export async function readAnswer(socket: Socket): Promise<{ status: number; length: number } | undefined> {
  let head = Buffer.alloc(0);
  let wanted: { status: number; length: number } | undefined;
  let received = 0;
  for (;;) {
    const part = socket.read() as Buffer | null;
    if (part === null) {
      if (socket.destroyed || socket.readableEnded) return undefined;
      await readableOrClosed(socket);
      continue;
    }
    if (wanted) {
      received += part.length;
    } else {
      head = Buffer.concat([head, part]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) continue;
      const text = head.toString('latin1', 0, end);
      wanted = {
        status: Number(text.split(' ')[1]),
        length: Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0),
      };
      received = head.length - end - 4;
    }
    if (received >= wanted.length) return wanted;
  }
}

function readableOrClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('readable', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('readable', done);
    socket.on('close', done);
  });
}
