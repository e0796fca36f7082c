import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync } from 'node:zlib';
import { lookup } from 'mrmime';
import { LoopbackServer } from '../../tests/support/loopback-server.ts';
import { makeCertificate } from '../load/certificate.ts';

interface StaticFile {
  type: string;
  bytes: Uint8Array;
  isCompressed: boolean;
}

/** The same files from an ordinary host: by HTTP/1.1 without TLS, and by HTTP/2 with it. Texts are compressed. */
export class StaticHosts {
  readonly #files = new Map<string, StaticFile>();
  readonly #close: (() => unknown)[] = [];
  httpPort = 0;
  httpsPort = 0;

  /** @param folder for a certificate. */
  static async start(folder: string): Promise<StaticHosts> {
    const hosts = new StaticHosts();
    const http = await LoopbackServer.start((request, response) => hosts.#answer(request, response));
    hosts.httpPort = http.port;
    const { certificateFile, keyFile } = makeCertificate(folder);
    const pair = { cert: readFileSync(certificateFile), key: readFileSync(keyFile) };
    const https = createSecureServer(pair, (request, response) => hosts.#answer(request, response));
    // A browser that goes away resets its connections.
    https.on('session', (session) => session.on('error', () => undefined));
    https.listen(0, '127.0.0.1');
    await once(https, 'listening');
    hosts.httpsPort = (https.address() as AddressInfo).port;
    hosts.#close.push(
      () => http.stop(),
      () => https.close(),
    );
    return hosts;
  }

  /** @param path on the host, with a slash in front. @returns its bytes on the wire. */
  add(path: string, bytes: Uint8Array): number {
    const type = lookup(path) ?? 'application/octet-stream';
    const isText = /^text\/|javascript|svg|json/.test(type);
    const sent = isText ? brotliCompressSync(bytes) : bytes;
    this.#files.set(path, { type, bytes: sent, isCompressed: isText });
    return sent.length;
  }

  async stop(): Promise<void> {
    for (const close of this.#close) await close();
  }

  #answer(
    { url = '/' }: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): void {
    const path = new URL(url, 'http://host').pathname;
    const file = this.#files.get(path.endsWith('/') ? `${path}index.html` : path);
    if (!file) {
      response.writeHead(404);
      response.end();
      return;
    }
    response.writeHead(200, {
      'Content-Type': file.type,
      'Content-Length': file.bytes.length,
      'Cache-Control': 'max-age=3600',
      ...(file.isCompressed && { 'Content-Encoding': 'br' }),
    });
    response.end(file.bytes);
  }
}
