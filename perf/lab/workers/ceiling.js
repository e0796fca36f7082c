// The worker of `/ceiling/`: answers from memory, which no gateway can do faster. `/ceiling/<path>` is what is at
// `/static/<path>`; with `?size=<bytes>` that again and again, up to so many bytes; `?zeros=<bytes>` needs no file.
const streamPieceBytes = 1024 * 1024;
const files = new Map();

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { pathname, searchParams } = new URL(event.request.url);
  if (pathname.endsWith('.html')) return;
  event.respondWith(answer(event.request, pathname, searchParams));
});

async function answer(request, pathname, query) {
  const bytes = query.has('zeros') ? new Uint8Array(Number(query.get('zeros'))) : await load(pathname);
  const size = Number(query.get('size') ?? bytes.length);
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('Range') ?? '');
  const start = range ? Number(range[1]) : 0;
  const end = range ? Number(range[2]) + 1 : size;
  const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': String(end - start) };
  if (range) headers['Content-Range'] = `bytes ${start}-${end - 1}/${size}`;
  return new Response(body(bytes, start, end), { status: range ? 206 : 200, headers });
}

function body(bytes, start, end) {
  const from = start % bytes.length;
  if (end - start <= streamPieceBytes) {
    if (from + end - start <= bytes.length) return bytes.subarray(from, from + end - start);
    const whole = new Uint8Array(end - start);
    whole.set(bytes.subarray(from));
    whole.set(bytes.subarray(0, whole.length - (bytes.length - from)), bytes.length - from);
    return whole;
  }
  let at = start;
  return new ReadableStream(
    {
      pull(controller) {
        const from = at % bytes.length;
        const piece = bytes.subarray(from, from + Math.min(streamPieceBytes, end - at));
        controller.enqueue(piece);
        at += piece.length;
        if (at === end) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

async function load(pathname) {
  let bytes = files.get(pathname);
  if (!bytes) {
    const response = await fetch(pathname.replace('/ceiling/', '/static/'), { cache: 'no-store' });
    if (!response.ok) throw new Error(`${pathname}: ${response.status}`);
    bytes = new Uint8Array(await response.arrayBuffer());
    files.set(pathname, bytes);
  }
  return bytes;
}
