import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../../src/peers/transports/byte-reader.ts';

/** A stream that gives `bytes` in the given pieces, and then ends. */
function inPieces(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...pieces];
  return new ReadableStream(
    {
      pull(controller) {
        const piece = left.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
}

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
const cuts = fc.array(fc.nat(), { maxLength: 20 });

describe('a byte reader', () => {
  it('gives the same bytes however the stream splits them, empty pieces among them', async () => {
    await fc.assert(
      fc.asyncProperty(someBytes, cuts, cuts, async (bytes, pieces, reads) => {
        const reader = new ByteReader(inPieces(split(bytes, pieces)), () => {});
        for (const wanted of split(bytes, reads)) {
          const read = await reader.read(wanted.length);
          expect(read).toEqual(wanted);
          expect(read.buffer.byteLength).toBe(wanted.length);
        }
        await expect(reader.read(1)).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
      }),
    );
  });

  it('reads a stream to its end if it is not longer than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(someBytes, cuts, fc.nat(400), async (bytes, pieces, maxBytes) => {
        const reader = new ByteReader(inPieces(split(bytes, pieces)), () => {});
        const read = await reader.readToEnd(maxBytes);
        if (bytes.length > maxBytes) expect(read).toBeUndefined();
        else expect(read).toEqual(bytes);
      }),
    );
  });

  it('reads the rest to the end after a part was read', async () => {
    const reader = new ByteReader(inPieces([Uint8Array.of(1, 2, 3), Uint8Array.of(4)]), () => {});
    await reader.read(1);
    expect(await reader.readToEnd(3)).toEqual(Uint8Array.of(2, 3, 4));
  });

  it('says how many bytes are missing when the stream ends early', async () => {
    const reader = new ByteReader(inPieces([Uint8Array.of(1, 2)]), () => {});
    await expect(reader.read(5)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringContaining('3 bytes'),
    });
  });

  it('stops asking a sender that sends too much', async () => {
    let sent = 0;
    let cancelled: unknown;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          sent++;
          controller.enqueue(new Uint8Array(100));
        },
        cancel(reason) {
          cancelled = reason;
        },
      },
      { highWaterMark: 0 },
    );
    const reader = new ByteReader(endless, () => {});
    expect(await reader.readToEnd(250)).toBeUndefined();
    expect(sent).toBe(3);
    await reader.cancel('too much');
    expect(cancelled).toBe('too much');
  });

  it('reports every piece that arrives, and rejects with the stream’s error', async () => {
    let arrivals = 0;
    const broken = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Uint8Array.of(1));
      },
      pull(controller) {
        controller.error(new Error('reset'));
      },
    });
    const reader = new ByteReader(broken, () => arrivals++);
    await reader.read(1);
    expect(arrivals).toBe(1);
    await expect(reader.read(1)).rejects.toThrow('reset');
    await expect(reader.cancel()).resolves.toBeUndefined();
  });
});
