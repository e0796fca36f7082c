import { forward, LoopbackServer, passOn } from './loopback-server.ts';

/** The parts of a peer's `/-/info` that tests and measurements change. */
export interface Info {
  operations: number[];
  webTransport: { port: number } | null;
  network?: object;
}

/** A peer's HTTP interface, except that `/-/info` is what `rewrite` makes of it. @param peer its origin. */
export function infoProxy(peer: string, rewrite: (info: Info) => Info): Promise<LoopbackServer> {
  return LoopbackServer.start(async (request, response) => {
    if (request.url !== '/-/info') return passOn(request, response, peer);
    try {
      const answer = await forward(request, peer);
      const info = JSON.parse(Buffer.concat(await answer.toArray()).toString());
      const body = JSON.stringify(rewrite(info));
      const headers = { ...answer.headers, 'content-length': Buffer.byteLength(body) };
      response.writeHead(answer.statusCode!, headers).end(body);
    } catch {
      request.socket.destroy();
    }
  });
}

/** A peer whose `/-/info` names another UDP port. */
export function announceUdpPort({ url }: { url: string }, port: number): Promise<LoopbackServer> {
  return infoProxy(url, (info) => ({ ...info, webTransport: { ...info.webTransport, port } }));
}
