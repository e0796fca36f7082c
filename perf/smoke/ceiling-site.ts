import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The worker of `/ceiling/`: answers every request for a file from memory, which no gateway can do faster. */
const worker = `
const files = new Map();
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  if (!pathname.endsWith('.bin')) return;
  event.respondWith((async () => {
    let bytes = files.get(pathname);
    if (!bytes) {
      bytes = await (await fetch(event.request, { cache: 'no-store' })).arrayBuffer();
      files.set(pathname, bytes);
    }
    return new Response(bytes, { headers: { 'Content-Type': 'application/octet-stream' } });
  })());
});
`;

/** Lays out the same files twice: under `/static/`, and under `/ceiling/` beside its worker. */
export async function writeCeilingSite(folder: string, files: readonly Uint8Array[]): Promise<void> {
  for (const part of ['static', 'ceiling']) {
    await mkdir(join(folder, part), { recursive: true });
    await writeFile(join(folder, part, 'index.html'), `<!doctype html><title>${part}</title>`);
    for (const [i, bytes] of files.entries()) await writeFile(join(folder, part, `${i}.bin`), bytes);
  }
  await writeFile(join(folder, 'ceiling/worker.js'), worker);
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>root</title>');
}
