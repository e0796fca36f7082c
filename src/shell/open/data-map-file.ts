import { encodeManifest } from '../../content/manifest.ts';
import { limits } from '../../limits.ts';
import { type DataMap, decodeDataMap, isPlaintextSize, MapBuilder } from '../../self-encryption/data-map.ts';

/**
 * Converts a data map file (`.datamap`), which the network's own client writes for a private upload, to a manifest with
 * this one file. The file is MessagePack like the record of a public file, or JSON.
 * @returns undefined if the bytes are no data map.
 * @throws AntwayError `UNSUPPORTED` for a data map of another version.
 */
export function manifestOfDataMap(bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const map = decodeDataMap(bytes) ?? parseJson(bytes);
  return map && encodeManifest({ entries: [{ source: { kind: 'embedded', map } }] });
}

/**
 * Returns the path at which the file is shown: its name tells the type.
 * @param filename such as `photo.jpg.datamap`.
 */
export function pathOfDataMap(filename: string): string {
  const name = filename.replace(/\.datamap$/i, '').replace(/[/\\\p{Cc}]/gu, '');
  // An archive has paths of its own.
  const isFile = /^[^.].*\.[^.]+$/.test(name) && !/\.(datamap|json|msgpack|tar|zip)$/i.test(name);
  return isFile ? `/${encodeURIComponent(name)}` : '/';
}

/** `{"chunk_identifiers": [{"index", "dst_hash", "src_hash", "src_size"}, …], "child": null}`, hashes in hex. */
function parseJson(bytes: Uint8Array): DataMap | undefined {
  let value: { chunk_identifiers?: unknown; child?: unknown } | null;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
  const { chunk_identifiers: chunks, child = null } = value ?? {};
  if (!Array.isArray(chunks) || chunks.length < limits.minChunks) return undefined;
  const isLevel = Number.isSafeInteger(child) && (child as number) > 0;
  if (child !== null && !isLevel) return undefined;
  const builder = new MapBuilder(chunks.length);
  for (const [i, chunk] of chunks.entries()) {
    const { index, dst_hash: dst, src_hash: src, src_size: size } = Object(chunk);
    const [dstHash, srcHash] = [bytesOf(dst), bytesOf(src)];
    if (index !== i || !dstHash || !srcHash || !isPlaintextSize(size)) return undefined;
    builder.set(i, dstHash, srcHash, size);
  }
  return builder.build(child === null ? 0 : (child as number));
}

function bytesOf(hash: unknown): number[] | undefined {
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/i.test(hash)) return undefined;
  return hash.match(/../g)!.map((byte) => Number.parseInt(byte, 16));
}
