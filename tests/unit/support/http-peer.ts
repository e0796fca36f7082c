import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A real HTTP server on loopback for the length of a test, which answers as it is told to. */
export interface HttpPeer {
  url: string;
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: Buffer }[];
  server: Server;
  /** Done when a client has closed a connection before it was sent the whole answer. */
  hungUp: Promise<void>;
}

export async function startHttpPeer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<HttpPeer> {
  const requests: HttpPeer['requests'] = [];
  let hangUp = () => {};
  const hungUp = new Promise<void>((resolve) => {
    hangUp = resolve;
  });
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, headers, body: Buffer.concat(parts) });
    response.once('close', () => {
      if (!response.writableFinished) hangUp();
    });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, server, hungUp };
}

/** The URL of a port on which nothing listens. */
export async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
