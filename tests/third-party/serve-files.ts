import { lookup } from 'mrmime';
import { LoopbackServer } from '../support/loopback-server.ts';
import type { Files } from '../support/tar.ts';

/** Starts an ordinary static host, to compare with: files, an index for each folder, 404, single byte ranges. */
export function serveFiles(files: Files): Promise<LoopbackServer> {
  return LoopbackServer.start((request, response) => {
    const path = decodeURIComponent(new URL(request.url!, 'http://host').pathname.slice(1));
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const content = Object.hasOwn(files, name) ? Buffer.from(files[name]!) : undefined;
    if (!content) {
      response.writeHead(404, { 'Content-Type': 'text/html' });
      response.end('<h1>Not found</h1>');
      return;
    }
    const headers = {
      'Content-Type': lookup(name) ?? 'application/octet-stream',
      'Accept-Ranges': 'bytes',
    };
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const start = Number(range?.[1] ?? 0);
    const end = range?.[2] ? Math.min(Number(range[2]) + 1, content.length) : content.length;
    response.writeHead(range ? 206 : 200, {
      ...headers,
      'Content-Length': end - start,
      ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${content.length}` }),
    });
    response.end(request.method === 'HEAD' ? undefined : content.subarray(start, end));
  });
}
