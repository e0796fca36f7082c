// The worker of `/bare/`: moves chunks from a peer by WebTransport to the page, and does nothing else with them.
// A page's message has the peer and, for each path, what to ask for: a list of requests, each a list of addresses.
const requestsAhead = 6;
const answerHeadBytes = 5;
let session;
let plans = {};

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => event.waitUntil(take(event)));
self.addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  if (!pathname.endsWith('.html')) event.respondWith(new Response(stream(plans[pathname])));
});

async function take({ data, ports }) {
  plans = data.plans;
  if (!session) {
    session = new WebTransport(data.url, {
      congestionControl: 'throughput',
      serverCertificateHashes: data.certificateHashes.map((hex) => ({
        algorithm: 'sha-256',
        value: fromHex(hex),
      })),
    });
    session.closed
      .catch(() => undefined)
      .finally(() => {
        session = undefined;
      });
    await session.ready;
  }
  ports[0].postMessage('ready');
}

/** The bytes of all records of a plan, in its order. */
function stream(plan) {
  const ahead = [];
  let next = 0;
  const ask = () => {
    while (next < plan.length && ahead.length < requestsAhead) ahead.push(new Answer(plan[next++]));
  };
  return new ReadableStream(
    {
      async pull(controller) {
        for (;;) {
          ask();
          if (ahead.length === 0) return controller.close();
          const piece = await ahead[0].next();
          if (piece) return controller.enqueue(piece);
          ahead.shift();
        }
      },
    },
    { highWaterMark: 0 },
  );
}

/** One GET. It reads the answer as it arrives, even without a waiting reader. */
class Answer {
  #pieces = [];
  #isAtEnd = false;
  #failure;
  #wake = () => {};

  constructor(addresses) {
    this.#read(addresses).catch((error) => {
      this.#failure = error;
      this.#wake();
    });
  }

  /** A part of a record; undefined after the last. */
  async next() {
    while (this.#pieces.length === 0 && !this.#isAtEnd && !this.#failure) {
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure) throw this.#failure;
    return this.#pieces.shift();
  }

  async #read(addresses) {
    const { readable, writable } = await session.createBidirectionalStream();
    const writer = writable.getWriter();
    const request = new Uint8Array(2 + 32 * addresses.length);
    request.set([1, addresses.length]);
    for (const [i, address] of addresses.entries()) request.set(fromHex(address), 2 + 32 * i);
    await writer.write(request);
    void writer.close();
    const reader = readable.getReader();
    let head = new Uint8Array();
    let left = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      let piece = value;
      while (piece.length > 0) {
        if (left === 0) {
          const missing = answerHeadBytes - head.length;
          head = concatenated(head, piece.subarray(0, missing));
          piece = piece.subarray(missing);
          if (head.length < answerHeadBytes) break;
          if (head[0] !== 0) throw new Error(`The peer answered with status ${head[0]}.`);
          left = new DataView(head.buffer).getUint32(1);
          head = new Uint8Array();
          continue;
        }
        const part = piece.subarray(0, left);
        this.#pieces.push(part);
        this.#wake();
        left -= part.length;
        piece = piece.subarray(part.length);
      }
    }
    this.#isAtEnd = true;
    this.#wake();
  }
}

function concatenated(a, b) {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function fromHex(hex) {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}
