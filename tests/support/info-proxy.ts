import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PeerProcess } from './peer-process.ts';

/** The peer's HTTP face, but its `/-/info` names another UDP port. */
export async function announcing(peer: PeerProcess, udpPort: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/-/info') {
      const passedOn = httpRequest(peer.url + request.url, { method: request.method }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      request.pipe(passedOn);
      return;
    }
    const info = await (await fetch(`${peer.url}/-/info`)).json();
    info.webTransport.port = udpPort;
    response.writeHead(200, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' });
    response.end(JSON.stringify(info));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
