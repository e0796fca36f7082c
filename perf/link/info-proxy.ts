import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Port } from './relay.ts';

/** The parts of `/-/info` that a measurement changes. */
export interface Info {
  operations: number[];
  webTransport: { port: number } | null;
}

/** A peer's HTTP face that passes everything on, but for `/-/info`, which says what `rewrite` made of it. */
export async function infoProxy(peerPort: number, rewrite: (info: Info) => Info): Promise<Port> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, outgoing) => {
    try {
      const { method, url: path, headers } = incoming;
      const asked = request({ agent, host: '127.0.0.1', port: peerPort, method, path, headers });
      incoming.pipe(asked);
      const [answer] = await once(asked, 'response');
      if (path === '/-/info' && answer.statusCode === 200) {
        const parts: Buffer[] = await answer.toArray();
        const body = JSON.stringify(rewrite(JSON.parse(Buffer.concat(parts).toString())));
        outgoing.writeHead(200, { ...answer.headers, 'content-length': Buffer.byteLength(body) }).end(body);
      } else {
        outgoing.writeHead(answer.statusCode, answer.headers);
        await pipeline(answer, outgoing);
      }
    } catch {
      outgoing.destroy(); // to the client the peer has broken off, as it has
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      if (server.listening) await once(server, 'close');
    },
  };
}
