import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { memorySource, randomAccessSource, slice } from '../../src/content/byte-source.ts';
import { ContentFile } from '../../src/content/content-file.ts';
import { AntwayError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { DataMap } from '../../src/self-encryption/data-map.ts';
import { deriveKeys } from '../../src/self-encryption/keys.ts';
import { codec, noise, type Records } from './support/encrypted-file.ts';
import { chunksOver, untilAborted } from './support/fake-network.ts';

const partBytes = 500;
const count = 12;
const plain = noise(count * partBytes - 100);
const records: Records = new Map();
let map: DataMap;

// Twelve chunks as of a file of fifty megabytes, only small: the reader goes by the sizes in the map.
beforeAll(async () => {
  const blake3 = await loadBlake3();
  const parts = Array.from({ length: count }, (_, i) => plain.subarray(i * partBytes, (i + 1) * partBytes));
  const src = Uint8Array.from(parts.flatMap((part) => [...blake3(part)]));
  const dst: number[] = [];
  for (const [i, part] of parts.entries()) {
    const encrypted = await codec.encrypt(part, deriveKeys(src, i, 0));
    const hash = blake3(encrypted);
    dst.push(...hash);
    records.set(Buffer.from(hash).toString('hex'), encrypted);
  }
  map = new DataMap(
    Uint8Array.from(dst),
    src,
    Uint32Array.from(parts, ({ length }) => length),
  );
});

function open() {
  const { decrypted, peers, stats } = chunksOver(records);
  const indexOf = new Map(Array.from({ length: count }, (_, i) => [map.address(i).hex, i]));
  return {
    file: new ContentFile(map, decrypted),
    peers,
    stats,
    asked: () => peers.asked.map((hex) => indexOf.get(hex)),
  };
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

/** Lets everything happen that can happen without a reader. */
const idle = () => new Promise((resolve) => setTimeout(resolve, 30));
const range = fc
  .tuple(fc.nat(plain.length), fc.nat(plain.length))
  .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

describe('a file, read at random', () => {
  it('gives any range exactly, read or streamed, and fetches only the chunks that it overlaps', async () => {
    await fc.assert(
      fc.asyncProperty(range, async ([start, end]) => {
        const expected = Buffer.from(plain.subarray(start, end));
        const overlapped = Array.from({ length: count }, (_, i) => i).filter(
          (i) => i * partBytes < end && (i + 1) * partBytes > start && start < end,
        );
        const reading = open();
        expect(Buffer.compare(await reading.file.read(start, end), expected)).toBe(0);
        expect(reading.asked()).toEqual(overlapped);
        const streaming = open();
        expect(Buffer.compare(await collect(streaming.file.stream(start, end)), expected)).toBe(0);
        expect(streaming.asked()).toEqual(overlapped);
      }),
      { numRuns: 40 },
    );
  });

  it('refuses a range outside itself', async () => {
    const { file, asked } = open();
    await expect(file.read(0, plain.length + 1)).rejects.toThrow(RangeError);
    await expect(file.read(-1, 5)).rejects.toThrow(RangeError);
    expect(() => file.stream(0, plain.length + 1)).toThrow(RangeError);
    expect(asked()).toEqual([]);
  });

  it('fails as a whole when a chunk of the range is missing', async () => {
    const { file, peers } = open();
    peers.beforeAnswer = async (hex) => {
      if (hex === map.address(3).hex) throw new AntwayError('NOT_FOUND', 'no');
    };
    await expect(file.read(1400, 2100)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(file.read(0, 1500)).resolves.toHaveLength(1500);
  });
});

describe('a stream of a file', () => {
  it('fetches nothing before it is read', async () => {
    const { file, asked } = open();
    file.stream(0, plain.length);
    await idle();
    expect(asked()).toEqual([]);
  });

  it('fetches a bounded number of chunks ahead, and no more while the reader pauses', async () => {
    const { file, asked } = open();
    const reader = file.stream(0, plain.length).getReader();
    await reader.read();
    await idle();
    expect(asked()).toEqual(Array.from({ length: 1 + limits.readAhead.first }, (_, i) => i));
    await reader.read();
    await idle();
    expect(asked()).toHaveLength(2 + limits.readAhead.first);
    await reader.cancel();
  });

  it('never has more chunks under way than it may, and gives them in order when they come in another', async () => {
    const { file, peers } = open();
    peers.beforeAnswer = (hex) =>
      new Promise((resolve) => setTimeout(resolve, Number.parseInt(hex.slice(0, 2), 16) % 20));
    expect(Buffer.compare(await collect(file.stream(0, plain.length)), plain)).toBe(0);
    expect(peers.mostUnderWay).toBe(limits.readAhead.first);
  });

  it('requests few chunks at the same time for one read, and none after one that fails', async () => {
    const { file, peers, asked } = open();
    const parallel = limits.readAhead.first;
    expect(count).toBeGreaterThan(parallel);
    expect(Buffer.from(await file.read(0, plain.length)).equals(plain)).toBe(true);
    expect(asked()).toHaveLength(count);
    expect(peers.mostUnderWay).toBe(parallel);

    const failing = open();
    failing.peers.beforeAnswer = async (hex) => {
      await idle();
      if (hex === map.address(0).hex) throw new AntwayError('NOT_FOUND', 'no');
    };
    await expect(failing.file.read(0, plain.length)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await idle();
    expect(failing.asked()).toHaveLength(parallel);
  });

  it('stops its fetches when it is cancelled', async () => {
    const { file, peers, asked } = open();
    const reader = file.stream(0, plain.length).getReader();
    await reader.read();
    await idle();
    peers.beforeAnswer = (_, signal) => untilAborted(signal);
    await reader.read();
    await vi.waitFor(() => expect(asked()).toHaveLength(6));
    await reader.cancel('navigated away');
    expect(peers.aborted).toContain(map.address(5).hex);
    await idle();
    expect(asked()).toHaveLength(6);
    expect(peers.underWay).toBe(0);
  });

  it('fails with the signal’s reason and stops its fetches when the signal aborts', async () => {
    const { file, peers } = open();
    peers.beforeAnswer = (_, signal) => untilAborted(signal);
    const controller = new AbortController();
    const reading = file.stream(0, plain.length, controller.signal).getReader().read();
    const rejected = expect(reading).rejects.toThrow('gone');
    await vi.waitFor(() => expect(peers.underWay).toBe(limits.readAhead.first));
    controller.abort(new Error('gone'));
    await rejected;
    await idle();
    expect(peers.underWay).toBe(0);
  });

  it('fails at once if the signal has aborted before', async () => {
    const { file, asked } = open();
    const stream = file.stream(0, 10, AbortSignal.abort(new Error('gone')));
    await expect(stream.getReader().read()).rejects.toThrow('gone');
    expect(asked()).toEqual([]);
  });

  it('gives all bytes before a chunk that fails, then fails and never just ends', async () => {
    const { file, peers } = open();
    peers.beforeAnswer = async (hex) => {
      if (hex === map.address(7).hex) throw new AntwayError('NOT_FOUND', 'no');
    };
    const reader = file.stream(0, plain.length).getReader();
    let received = 0;
    const readAll = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        received += value.length;
      }
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(received).toBe(7 * partBytes);
    await idle();
    expect(peers.underWay).toBe(0);
  });

  it('stops fetching the chunks behind one that fails', async () => {
    const { file, peers } = open();
    peers.beforeAnswer = async (hex, signal) => {
      if (hex === map.address(0).hex) throw new AntwayError('NOT_FOUND', 'no');
      await untilAborted(signal);
    };
    await expect(file.stream(0, plain.length).getReader().read()).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(peers.aborted).toHaveLength(limits.readAhead.first - 1);
  });

  it('of an empty range ends at once', async () => {
    const { file, asked } = open();
    expect(await collect(file.stream(5, 5))).toHaveLength(0);
    expect(asked()).toEqual([]);
  });
});

describe('a part of a source', () => {
  it('gives its own ranges', async () => {
    const { file } = open();
    const part = slice(file, 700, 900);
    expect(part.size).toBe(900);
    expect(Buffer.compare(await part.read(10, 20), plain.subarray(710, 720))).toBe(0);
    expect(Buffer.compare(await collect(part.stream(0, 900)), plain.subarray(700, 1600))).toBe(0);
  });
});

describe('a source in memory or in pieces', () => {
  const large = noise(3 * limits.streamPieceBytes);
  it.each([
    ['in memory', memorySource(large)],
    ['piece by piece', randomAccessSource(memorySource(large))],
  ])('gives any range, %s', async (_, source) => {
    expect(source.size).toBe(large.length);
    expect(await source.read(3, 7)).toEqual(large.subarray(3, 7));
    for (const [start, end] of [
      [0, large.length],
      [5, limits.streamPieceBytes + 5],
      [5, 6],
      [5, 5],
    ] as const) {
      expect(Buffer.compare(await collect(source.stream(start, end)), large.subarray(start, end))).toBe(0);
    }
  });

  it('that is read piece by piece fails when a piece does, and reads no further once cancelled', async () => {
    let reads = 0;
    const source = randomAccessSource({
      size: large.length,
      read: async (start, end) => {
        if (++reads === 2) throw new Error('broken');
        return large.subarray(start, end);
      },
    });
    await expect(collect(source.stream(0, large.length))).rejects.toThrow('broken');
    reads = 10;
    const reader = source.stream(0, large.length).getReader();
    await reader.read();
    await reader.cancel();
    await idle();
    expect(reads).toBe(11);
  });
});
