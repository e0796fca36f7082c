import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** An HTTP server on a free port of loopback. */
export class LoopbackServer implements AsyncDisposable {
  private constructor(private readonly server: Server) {}

  static async start(answer: RequestListener, options: ServerOptions = {}): Promise<LoopbackServer> {
    const server = createServer(options, answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LoopbackServer(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Origin, without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Closes the connections, also those with a request under way, but goes on to listen. */
  dropConnections(): void {
    this.server.closeAllConnections();
  }

  /** A second call does nothing. */
  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Sends a request on to the server at another origin. @returns the response, whose body is not read. */
export async function forward(
  request: IncomingMessage,
  origin: string,
  headers: IncomingHttpHeaders = request.headers,
): Promise<IncomingMessage> {
  const forwarded = httpRequest(origin + request.url, { method: request.method, headers });
  request.pipe(forwarded);
  const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
  return response;
}

/** Answers a request as the server at another origin does. Breaks off the connection if that server does. */
export async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  headers?: IncomingHttpHeaders,
): Promise<void> {
  try {
    const answer = await forward(request, origin, headers);
    response.writeHead(answer.statusCode!, answer.headers);
    await pipeline(answer, response);
  } catch {
    request.socket.destroy();
  }
}

/**
 * A port on which nothing listens. It is below the ports that the system chooses by itself, so that no other program takes it
 * before the test does.
 */
export async function freePort(): Promise<number> {
  // Browsers refuse none of these ports.
  let port = randomInt(20_000, 30_000);
  while (!(await isFree(port))) port = randomInt(20_000, 30_000);
  return port;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
