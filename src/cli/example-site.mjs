// Serves a page with the drop-in, like any static host. Plain JavaScript, see setup.mjs.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { lookup } from 'mrmime';

/**
 * Serves folders on loopback until the process ends.
 * @param {string[]} folders The first folder that has the requested file wins.
 * @param {object} config The content of `antway.json`.
 * @param {number} port 0 selects any free port.
 * @returns {Promise<string>} the origin of the server.
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

/** The path cannot leave its folder. A path of a folder gets the name of the folder's page. */
function pathOf(url) {
  try {
    const path = normalize(decodeURIComponent(new URL(url, 'http://host').pathname));
    return path.endsWith('/') ? `${path}index.html` : path;
  } catch {
    return '/';
  }
}
