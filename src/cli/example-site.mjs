// A page with the drop-in, as any static host would serve it. Plain JavaScript, see setup.mjs.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { lookup } from 'mrmime';

/**
 * Serves `examples/embedding` on loopback, the drop-in's files beside its own, until the process ends.
 * @param {string[]} folders whose files are served; the first that has a file wins.
 * @param {object} config what `antway.json` holds.
 * @param {number} port 0 for any that is free.
 * @returns {Promise<string>} its origin.
 */
export async function serveExample(folders, config, port) {
  const server = createServer(async (request, response) => {
    const path = pathOf(request.url);
    const type = { 'Content-Type': lookup(path) ?? 'application/octet-stream', 'Cache-Control': 'no-cache' };
    if (path === '/antway.json') return response.writeHead(200, type).end(JSON.stringify(config));
    for (const folder of folders) {
      const file = join(folder, path);
      const isFile = await stat(file).then(
        (found) => found.isFile(),
        () => false,
      );
      if (!isFile) continue;
      response.writeHead(200, type);
      if (request.method === 'HEAD') return response.end();
      return createReadStream(file)
        .on('error', () => response.destroy())
        .pipe(response);
    }
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is no such file.');
  });
  server.listen(port, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  return `http://127.0.0.1:${server.address().port}`;
}

/** A path that stays in its folder, with the name of a folder's page. */
function pathOf(url) {
  try {
    const path = normalize(decodeURIComponent(new URL(url, 'http://host').pathname));
    return path.endsWith('/') ? `${path}index.html` : path;
  } catch {
    return '/';
  }
}
