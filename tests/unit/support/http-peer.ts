import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { freePort, LoopbackServer } from '../../support/loopback-server.ts';

/** A real HTTP server on loopback for the length of a test, which answers as it is told to. */
export interface HttpPeer {
  url: string;
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: Buffer }[];
  server: LoopbackServer;
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
  const server = await LoopbackServer.start(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, headers, body: Buffer.concat(parts) });
    response.once('close', () => {
      if (!response.writableFinished) hangUp();
    });
    answer(request, response);
  });
  onTestFinished(() => server.stop());
  return { url: server.url, requests, server, hungUp };
}

/** The URL of a port on which nothing listens. */
export async function closedPort(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}
