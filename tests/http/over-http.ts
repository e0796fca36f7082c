import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { sha256 } from '../support/tar.ts';
import type { CaseRequest, Received } from './case.ts';
import type { Exchange } from './exchange.ts';

const timeoutMs = 30_000;
/** More than any case expects: a longer body was not requested. */
const maxBytes = 8 * 1024 * 1024;

/** Headers of a browser that navigates to a page. */
const navigation = {
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Dest': 'document',
};

/** Asks a gateway that listens on a port; paths are sent as they are written. */
export function overHttp(base: string): Exchange {
  const { protocol, hostname, port } = new URL(base);
  const send = protocol === 'https:' ? httpsRequest : httpRequest;
  return ({ method, path, headers, body, as }: CaseRequest): Promise<Received> =>
    new Promise((resolve, reject) => {
      const all = { ...(as === 'document' ? navigation : { Accept: '*/*' }), ...headers };
      const request = send({ hostname, port, method, path, headers: all, timeout: timeoutMs }, (response) => {
        const pieces: Buffer[] = [];
        let size = 0;
        response.on('data', (piece: Buffer) => {
          pieces.push(piece);
          size += piece.length;
          if (size > maxBytes) request.destroy(new Error('far more bytes than were asked for'));
        });
        response.on('error', reject);
        response.on('aborted', () => reject(new Error('the body broke off')));
        response.on('end', () => {
          const body = Buffer.concat(pieces);
          const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(received),
            size: body.length,
            sha256: sha256(body),
            text: body.toString(),
          });
        });
      });
      request.on('timeout', () => request.destroy(new Error(`no answer in ${timeoutMs} ms`)));
      request.on('error', reject);
      request.end(body);
    });
}
