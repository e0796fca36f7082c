import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Passes connections on to a server of loopback, and counts the bytes that the server sends. */
export class CountingProxy {
  #received = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, '127.0.0.1');
      server.on('data', (bytes) => {
        this.#received += bytes.length;
      });
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', () => to.destroy());
        from.on('close', () => this.#sockets.delete(from));
        from.pipe(to);
      }
    });
  }

  static async start(target: string): Promise<CountingProxy> {
    const proxy = new CountingProxy(Number(new URL(target).port));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes of the server so far, with the heads of HTTP answers. */
  get received(): number {
    return this.#received;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
