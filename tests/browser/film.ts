import { readFileSync } from 'node:fs';
import type { RandomAccess } from '../../src/util/random-access.ts';
import { fromRoot } from '../support/paths.ts';

const id = {
  segment: 0x18538067,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  cluster: 0x1f43b675,
  cues: 0x1c53bb6b,
};
const segmentStart = 36;
/** Bytes of nothing between two clusters, each two seconds long. */
const gap = 20_000_000;

/**
 * The sample site's film of 30 seconds as a file of 300 MB: the same pictures and sound, with much nothing (a WebM
 * `Void` element) between every two seconds, and an index (`Cues`) at its start.
 */
export function paddedFilm(): RandomAccess {
  const film = readFileSync(fromRoot('tests/sites/sample/media/waves.webm'));
  const children = childrenOf(film, segmentStart + 12);
  const only = (wanted: number) => children.filter((child) => child.id === wanted).map(({ bytes }) => bytes);
  const clusters = only(id.cluster);
  const before = [...only(id.info), ...only(id.tracks)];
  const cuesSize = cues(clusters, 0).length;
  const firstCluster = before.reduce((sum, bytes) => sum + bytes.length, 0) + cuesSize;
  const segmentSize = firstCluster + clusters.reduce((sum, { length }) => sum + length + gap, 0);
  const head = Buffer.concat([
    film.subarray(0, segmentStart),
    element(id.segment, 4, segmentSize),
    ...before,
    cues(clusters, firstCluster),
  ]);
  const pieces: { start: number; bytes: Uint8Array }[] = [{ start: 0, bytes: head }];
  let at = head.length;
  for (const cluster of clusters) {
    const withVoid = Buffer.concat([cluster, element(0xec, 1, gap - 9)]);
    pieces.push({ start: at, bytes: withVoid });
    at += cluster.length + gap;
  }
  return pieced(pieces, at);
}

/** Bytes here and there, with zeros between. */
export function pieced(pieces: readonly { start: number; bytes: Uint8Array }[], size: number): RandomAccess {
  return {
    size,
    async read(start, end) {
      const read = new Uint8Array(end - start);
      for (const piece of pieces) {
        const from = Math.max(start, piece.start);
        const to = Math.min(end, piece.start + piece.bytes.length);
        if (from < to) read.set(piece.bytes.subarray(from - piece.start, to - piece.start), from - start);
      }
      return read;
    },
  };
}

/** Where each cluster is, from the start of the segment's data. */
function cues(clusters: readonly Buffer[], firstCluster: number): Buffer {
  const points: Buffer[] = [];
  let at = firstCluster;
  for (const cluster of clusters) {
    // The cluster's first child is its time.
    const [time] = childrenOf(cluster, 4 + lengthOf(cluster[4]!), 1);
    const track = Buffer.from([0xf7, 0x81, 1]);
    const position = Buffer.concat([Buffer.from([0xf1, 0x88]), uint64(at)]);
    const positions = nested(0xb7, Buffer.concat([track, position]));
    points.push(
      nested(0xbb, Buffer.concat([Buffer.from([0xb3, 0x88]), uint64(numberIn(time!.data)), positions])),
    );
    at += cluster.length + gap;
  }
  const all = Buffer.concat(points);
  return Buffer.concat([element(id.cues, 4, all.length), all]);
}

interface Element {
  id: number;
  /** With its head. */
  bytes: Buffer;
  data: Buffer;
}

function childrenOf(bytes: Buffer, start: number, most = Number.POSITIVE_INFINITY): Element[] {
  const found: Element[] = [];
  for (let at = start; at < bytes.length && found.length < most; ) {
    const idLength = lengthOf(bytes[at]!);
    const sizeLength = lengthOf(bytes[at + idLength]!);
    const data = at + idLength + sizeLength;
    // The marker is the first of the bits that are set.
    const [first = 0, ...others] = bytes.subarray(at + idLength, data);
    const size = numberIn([first - (0x100 >> sizeLength), ...others]);
    found.push({
      id: bytes.readUIntBE(at, idLength),
      bytes: bytes.subarray(at, data + size),
      data: bytes.subarray(data, data + size),
    });
    at = data + size;
  }
  return found;
}

/** Length of an EBML number, told by the zero bits at its start. */
function lengthOf(first: number): number {
  return Math.clz32(first) - 23;
}

function numberIn(bytes: Iterable<number>): number {
  return Array.from(bytes).reduce((value, byte) => value * 256 + byte, 0);
}

/** The head of an element: its id, and its size in eight bytes. */
function element(id: number, idLength: number, size: number): Buffer {
  const head = Buffer.alloc(idLength + 8);
  head.writeUIntBE(id, 0, idLength);
  uint64(size).copy(head, idLength);
  head[idLength] = 0x01;
  return head;
}

function nested(id: number, data: Buffer): Buffer {
  return Buffer.concat([element(id, 1, data.length), data]);
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
