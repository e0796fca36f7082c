import { Address } from '../address.ts';
import { refusalOfPath } from '../archive/member-path.ts';
import type { RefusedEntry } from '../archive/tar-index.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import { type DataMap, encodeDataMap, isPlaintextSize, MapBuilder } from '../self-encryption/data-map.ts';
import { decodeUntrusted, type Encodable, encode } from '../self-encryption/message-pack.ts';

/** The version follows. */
const header = [0xc1, 0x41, 0x4e, 0x54] as const;
const version = 1;
/** Address, source hash and big-endian u32 size of each chunk. */
const chunkBytes = 32 + 32 + 4;

/** The content of a manifest's entry: a public address, or a data map that only the manifest contains. */
export type ManifestSource = { kind: 'public'; address: Address } | { kind: 'embedded'; map: DataMap };

export interface ManifestEntry {
  path: string;
  /** Whether the manifest gives the path; otherwise the path is the content's address. */
  hasPath: boolean;
  /** As the manifest claims, in bytes. */
  size: number | undefined;
  source: ManifestSource;
}

export interface Manifest {
  name: string | undefined;
  entries: ManifestEntry[];
  refused: RefusedEntry[];
}

export function isManifest(start: Uint8Array): boolean {
  return header.every((byte, i) => start[i] === byte);
}

/** @throws AntwayError `TOO_LARGE` if a manifest cannot have so many bytes. */
export function checkManifestSize(bytes: number): void {
  if (bytes > limits.manifestBytes)
    throw new AntwayError('TOO_LARGE', `A manifest has at most ${limits.manifestBytes} bytes.`);
}

/**
 * Parses a manifest (`.ant`): header, then MessagePack maps with named fields. Unknown fields are ignored.
 * @param blake3 computes the path of an entry without a path: its content address, as in the network's own tools.
 * @throws AntwayError `UNSUPPORTED` for another version or kind of source, `CORRUPT` for another layout, `TOO_LARGE`
 *   over 64 MiB or 100,000 entries.
 */
export function parseManifest(bytes: Uint8Array, blake3: Blake3): Manifest {
  checkManifestSize(bytes.length);
  if (!isManifest(bytes)) throw corrupt('it does not begin as one');
  if (bytes[4] !== version) {
    throw new AntwayError(
      'UNSUPPORTED',
      `This is a manifest of version ${bytes[4]}; version 1 is known here.`,
    );
  }
  const root = asMap(decodeBody(bytes.subarray(5)), 'it');
  if (!Array.isArray(root.entries)) throw corrupt('it has no list of entries');
  if (root.entries.length > limits.archiveEntries) {
    throw new AntwayError('TOO_LARGE', `A manifest has at most ${limits.archiveEntries} entries.`);
  }
  const entries = new Map<string, ManifestEntry>();
  const refused: RefusedEntry[] = [];
  for (const value of root.entries as unknown[]) {
    const entry = parseEntry(asMap(value, 'an entry'), blake3);
    const reason =
      refusalOfPath(entry.path) ?? (entries.has(entry.path) ? 'another entry has the same path' : undefined);
    if (reason) refused.push({ path: entry.path, reason });
    else entries.set(entry.path, entry);
  }
  return {
    name: typeof root.name === 'string' ? root.name : undefined,
    entries: [...entries.values()],
    refused,
  };
}

/** The source of a manifest with one entry without a path, which stands for a single file; otherwise undefined. */
export function soleSource({ entries, refused }: Manifest): ManifestSource | undefined {
  const [only, ...others] = entries;
  const isSole = only && !only.hasPath && others.length === 0 && refused.length === 0;
  return isSole ? only.source : undefined;
}

export interface ManifestContent {
  name?: string;
  entries: readonly { path?: string; size?: number; source: ManifestSource }[];
}

/** Encodes a manifest in the same form as the network's own tools. */
export function encodeManifest({ name, entries }: ManifestContent): Uint8Array<ArrayBuffer> {
  const body = encode({
    ...(name === undefined ? {} : { name }),
    entries: entries.map(({ path, size, source }) => ({
      ...(path === undefined ? {} : { path }),
      ...(size === undefined ? {} : { size }),
      source: encodeSource(source),
    })),
  });
  const bytes = new Uint8Array(header.length + 1 + body.length);
  bytes.set([...header, version]);
  bytes.set(body, header.length + 1);
  return bytes;
}

function encodeSource(source: ManifestSource): Encodable {
  if (source.kind === 'public') return { Public: { address: source.address.bytes } };
  const { map } = source;
  const chunks = new Uint8Array(chunkBytes * map.count);
  const view = new DataView(chunks.buffer);
  for (let i = 0; i < map.count; i++) {
    const at = chunkBytes * i;
    chunks.set(map.address(i).bytes, at);
    chunks.set(map.srcHash(i), at + 32);
    view.setUint32(at + 64, map.sizes[i]!);
  }
  return { Embedded: { data_map: { chunks, ...(map.childLevel === 0 ? {} : { child: map.childLevel }) } } };
}

function decodeBody(body: Uint8Array): unknown {
  try {
    return decodeUntrusted(body, { maxDepth: 16, maxValues: limits.manifestValues });
  } catch (cause) {
    throw corrupt('its body is not MessagePack', cause);
  }
}

function parseEntry(entry: Record<string, unknown>, blake3: Blake3): ManifestEntry {
  const source = parseSource(asMap(entry.source, 'a source'));
  const { path, size } = entry;
  if (path !== undefined && path !== null && typeof path !== 'string') throw corrupt('a path is not text');
  return {
    path: path ?? contentAddress(source, blake3).hex,
    hasPath: typeof path === 'string',
    size: Number.isSafeInteger(size) && (size as number) >= 0 ? (size as number) : undefined,
    source,
  };
}

function contentAddress(source: ManifestSource, blake3: Blake3): Address {
  return source.kind === 'public' ? source.address : Address.fromBytes(blake3(encodeDataMap(source.map)));
}

function parseSource(source: Record<string, unknown>): ManifestSource {
  const [kind] = Object.keys(source);
  if (kind === 'Public') {
    const { address } = asMap(source.Public, 'a public source');
    if (!(address instanceof Uint8Array) || address.length !== 32)
      throw corrupt('an address has not 32 bytes');
    return { kind: 'public', address: Address.fromBytes(address) };
  }
  if (kind === 'Embedded') {
    const { data_map: map } = asMap(source.Embedded, 'an embedded source');
    return { kind: 'embedded', map: parseEmbeddedMap(asMap(map, 'a data map')) };
  }
  throw new AntwayError(
    'UNSUPPORTED',
    `A manifest entry has a source of an unknown kind, “${kind?.slice(0, 100)}”.`,
  );
}

/** `{chunks: bin, child?: uint}`: 68 bytes per chunk. The index of a chunk is its position. */
function parseEmbeddedMap({ chunks, child }: Record<string, unknown>): DataMap {
  if (!(chunks instanceof Uint8Array) || chunks.length % chunkBytes !== 0) {
    throw corrupt('the chunks of a data map have a wrong length');
  }
  const count = chunks.length / chunkBytes;
  if (count < limits.minChunks) throw corrupt('a data map has too few chunks');
  if (child !== undefined && child !== null && !(Number.isSafeInteger(child) && (child as number) > 0)) {
    throw corrupt('a data map has an impossible child level');
  }
  const view = new DataView(chunks.buffer, chunks.byteOffset, chunks.byteLength);
  const builder = new MapBuilder(count);
  for (let i = 0; i < count; i++) {
    const at = chunkBytes * i;
    const size = view.getUint32(at + 64);
    if (!isPlaintextSize(size)) throw corrupt('a data map has a chunk of an impossible size');
    builder.set(i, chunks.subarray(at, at + 32), chunks.subarray(at + 32, at + 64), size);
  }
  return builder.build((child as number | null | undefined) ?? 0);
}

function asMap(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) {
    throw corrupt(`${what} is not a map`);
  }
  return value as Record<string, unknown>;
}

function corrupt(why: string, cause?: unknown): AntwayError {
  return new AntwayError('CORRUPT', `This is not a valid manifest: ${why}.`, {}, { cause });
}

/** Decodes an `ant://manifest/<unpadded base64url>` link. @throws AntwayError `BAD_ADDRESS` for another form. */
export function manifestOfLink(link: string): Uint8Array<ArrayBuffer> {
  const [, text] = /^ant:\/\/manifest\/([\w-]+)$/i.exec(link) ?? [];
  if (!text) throw new AntwayError('BAD_ADDRESS', 'This is not a manifest link.');
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new AntwayError('BAD_ADDRESS', 'The manifest in this link is not base64url.', {}, { cause });
  }
}

/**
 * As `manifestOfLink`, but checks that nothing of the manifest is missing. Links are cut off when they are copied.
 * @throws AntwayError `BAD_ADDRESS` also for a manifest that ends early.
 */
export function wholeManifestOfLink(link: string): Uint8Array<ArrayBuffer> {
  const bytes = manifestOfLink(link);
  const start = bytes.subarray(0, header.length + 1);
  let isWhole = isManifest(start) && start.length > header.length;
  // Other versions may have another body. They are refused later, with the reason.
  if (isWhole && start.at(-1) === version) {
    try {
      decodeBody(bytes.subarray(start.length));
    } catch {
      isWhole = false;
    }
  }
  if (isWhole) return bytes;
  throw new AntwayError(
    'BAD_ADDRESS',
    'This link is incomplete or damaged: a part of its manifest is missing. Copy the whole link.',
  );
}
