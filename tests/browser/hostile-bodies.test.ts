import { expect, sceneOfFile, test } from '../support/chromium.ts';
import { hostilePeer } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { type ChunkSink, publish, RepeatingFile } from '../support/publish.ts';
import { pieced } from './film.ts';

/** Five chunks. */
const size = 20_000_000;

test.describe('if no peer has a chunk in the middle', () => {
  const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
    const peer = await startPeer();
    const path = `/${await publish(pieced([{ start: 0, bytes: bitmapHead() }], size), withoutFourth(peer))}`;
    return { path, gateway: await openWorker({ peers: [peer.url] }) };
  });

  test('a fetch succeeds and its body fails', async () => {
    const { gateway, path } = scene();
    const { status, declared, received, outcome } = await gateway.shell.evaluate(async (url) => {
      const response = await fetch(url);
      const declared = Number(response.headers.get('Content-Length'));
      const reader = response.body!.getReader();
      let received = 0;
      const readAll = async () => {
        for (let next = await reader.read(); !next.done; next = await reader.read())
          received += next.value.length;
        return 'ended';
      };
      const outcome = await readAll().catch((error: Error) => error.name);
      return { status: response.status, declared, received, outcome };
    }, path);
    expect({ status, declared, outcome }).toEqual({ status: 200, declared: size, outcome: 'TypeError' });
    expect(received).toBeLessThan(size);
  });

  for (const method of ['arrayBuffer', 'blob', 'text'] as const) {
    test(`${method}() of a response rejects`, async () => {
      const { gateway, path } = scene();
      const outcome = await gateway.shell.evaluate(
        async ([url, method]) => {
          const response = await fetch(url);
          return response[method]().then(
            () => 'ended',
            () => 'failed',
          );
        },
        [path, method] as const,
      );
      expect(outcome).toBe('failed');
    });
  }

  test('an XMLHttpRequest fires error and no load', async () => {
    const { gateway, path } = scene();
    const events = await gateway.shell.evaluate(
      (url) =>
        new Promise<string[]>((resolve) => {
          const request = new XMLHttpRequest();
          const events: string[] = [];
          for (const type of ['load', 'error', 'abort'])
            request.addEventListener(type, () => events.push(type));
          request.addEventListener('loadend', () => resolve(events));
          request.open('GET', url);
          request.responseType = 'arraybuffer';
          request.send();
        }),
      path,
    );
    // Which of the two is the browser's choice.
    expect([['error'], ['abort']]).toContainEqual(events);
  });

  test('a picture fires error and no load', async () => {
    const { gateway, path } = scene();
    const event = await gateway.shell.evaluate(
      (url) =>
        new Promise((resolve) => {
          const image = new Image();
          for (const type of ['load', 'error']) image.addEventListener(type, () => resolve(type));
          image.src = `${url}/picture.bmp`;
        }),
      path,
    );
    expect(event).toBe('error');
  });

  test('a download fails, and leaves no file that looks whole', async () => {
    const { gateway, path } = scene();
    const page = await gateway.openPage('/icon.svg');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.goto(`${gateway.url}${path}?download&filename=whole.bin`).catch(() => undefined),
    ]);
    expect(await download.failure()).not.toBeNull();
  });
});

test('the first bytes come as soon as their chunk is there, however slow the rest is', {
  tag: '@full',
}, async ({ startPeer, openWorker }) => {
  // The record, the three chunks of the map inside it and the file's first chunks, which one request brings. The peer looks
  // these up at the same time. The next one takes minutes.
  const slow = await startPeer({
    binary: hostilePeer,
    flags: ['--fault', 'slow', '--bytes-per-second', '20000', '--honest-first', '7'],
  });
  const address = await publish(new RepeatingFile(size), slow);
  const gateway = await openWorker({ peers: [slow.url] });
  const first = await gateway.shell.evaluate(async (url) => {
    const controller = new AbortController();
    const response = await fetch(url, { signal: controller.signal });
    const { value } = await response.body!.getReader().read();
    controller.abort();
    return {
      status: response.status,
      declared: response.headers.get('Content-Length'),
      bytes: value!.length,
    };
  }, `/${address}`);
  expect(first).toMatchObject({ status: 200, declared: String(size) });
  expect(first.bytes).toBeGreaterThan(0);
});

/** The fourth chunk of a file is lost on its way. */
function withoutFourth(peer: PeerProcess): ChunkSink {
  let chunks = 0;
  return {
    put: async (address, bytes) => {
      if (++chunks !== 4) await peer.put(address, bytes);
    },
  };
}

/** Of a picture of 2,500 × 2,000 pixels, four bytes each. */
function bitmapHead(): Buffer {
  const head = Buffer.alloc(54);
  head.write('BM');
  head.writeUInt32LE(size, 2);
  head.writeUInt32LE(54, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(2_500, 18);
  head.writeInt32LE(1_999, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(32, 28);
  return head;
}
