import { replaceDisruptive } from '../../util/sanitize-text.ts';
/** Byte layouts of the peer protocol, version 1 (docs/reference/protocol.md): one bidirectional stream per request. */

import type { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';

/** The version of the protocol that this program speaks. */
const version = 1;

export const webTransportPath = '/v1';

export const operations = { get: 1, has: 2, put: 3, info: 4, open: 5 } as const;

export const statuses = {
  found: 0,
  notFound: 1,
  busy: 2,
  failed: 3,
  refused: 4,
  tooLarge: 5,
  full: 6,
} as const;

/** In place of the length in the answer “not found”: the operator of the peer has blocked the address. */
const deniedReason = 451;

/** Codes with which a peer resets a stream instead of answering. */
export const resetCodes = { badRequest: 1 } as const;

/** `GET /-/info`, or the INFO operation. */
export interface PeerInfo {
  name: string;
  version: string;
  protocol: number;
  /** Null if the peer has only HTTP. */
  webTransport: {
    /** The host, if it is not the one of the peer's HTTP. An IPv6 address is in brackets. */
    host?: string;
    port: number;
    path: string;
    /** SHA-256 of the current and the next certificate, hex. Empty for a CA-signed certificate. */
    certificateHashes: string[];
  } | null;
  /** Operations that the peer supports by WebTransport; empty if the peer does not list them. */
  operations: number[];
  /** URLs of other peers that the peer names. Not checked. */
  peers: string[];
  /** Null if the peer is not a client of a network. */
  network: PeerNetwork | null;
}

/** The network whose records the peer looks up, as the peer describes it. */
export interface PeerNetwork {
  name: string;
  state: string;
  /** Number of network nodes that the peer is connected to. Null if the peer does not say. */
  peers: number | null;
  /** Time since when the peer has this state, as the peer writes it. */
  since: string | null;
  /** The reason why the peer is not connected, for users. */
  problem: string | null;
}

/** GET or HAS: op, count, addresses. */
export function encodeAddressRequest(
  operation: typeof operations.get | typeof operations.has,
  addresses: readonly Address[],
): Uint8Array<ArrayBuffer> {
  if (addresses.length < 1 || addresses.length > limits.addressesPerRequest) {
    throw new RangeError(
      `A request names 1 to ${limits.addressesPerRequest} addresses, not ${addresses.length}`,
    );
  }
  const frame = new Uint8Array(2 + 32 * addresses.length);
  frame[0] = operation;
  frame[1] = addresses.length;
  for (const [i, address] of addresses.entries()) frame.set(address.bytes, 2 + 32 * i);
  return frame;
}

/** PUT: op, length of the token, token, length, bytes. @throws RangeError if the token exceeds the limit. */
export function encodePut(token: string, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(token);
  if (text.length > limits.tokenBytes)
    throw new RangeError(`A token has at most ${limits.tokenBytes} bytes.`);
  const frame = new Uint8Array(1 + 2 + text.length + 4 + bytes.length);
  const view = new DataView(frame.buffer);
  frame[0] = operations.put;
  view.setUint16(1, text.length);
  frame.set(text, 3);
  view.setUint32(3 + text.length, bytes.length);
  frame.set(bytes, 7 + text.length);
  return frame;
}

/**
 * Checks the status of an answer to PUT.
 * @throws AntwayError `REFUSED` (token, origin), `TOO_LARGE` (the chunk, or the store is full), `PEERS_UNREACHABLE` if
 *   another try may succeed, `CORRUPT` for an unknown status.
 */
export function checkStored(status: number): void {
  switch (status) {
    case statuses.found:
      return;
    case statuses.busy:
      throw unavailable('The peer is busy.');
    case statuses.failed:
      throw unavailable('The peer failed to store this chunk.');
    case statuses.refused:
      throw new AntwayError('REFUSED', 'The peer takes no chunks from here, or not with this token.');
    case statuses.tooLarge:
      throw new AntwayError('TOO_LARGE', 'The peer takes no chunk as large as this.');
    case statuses.full:
      throw new AntwayError('TOO_LARGE', 'The peer has no room for a chunk.');
    default:
      throw new AntwayError('CORRUPT', `The peer answered with an unknown status, ${status}.`);
  }
}

/** INFO: op only. */
export function encodeInfo(): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(operations.info);
}

/** A byte range of a file: from `start`, or the last bytes. `length` 0 means up to the end. */
export type FileRange = { start: number; length: number } | { last: number };

/**
 * The bytes of which OPEN requests the chunks. Of an archive, the chunks at its end come before the first bytes, because the
 * index is there.
 */
export type PrefetchRange = FileRange | { endFirst: number };

/** In place of the first byte: the last `length` bytes. */
const fromEnd = 2n ** 64n - 1n;
/** In place of the first byte: the end, and then the first `length` bytes. */
const endFirst = 2n ** 64n - 2n;

/** OPEN: op, address, first byte, length. */
export function encodeOpen(address: Address, range: PrefetchRange): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(1 + 32 + 8 + 8);
  const view = new DataView(frame.buffer);
  frame[0] = operations.open;
  frame.set(address.bytes, 1);
  const [first, length] = firstAndLength(range);
  view.setBigUint64(33, first);
  view.setBigUint64(41, BigInt(length));
  return frame;
}

function firstAndLength(range: PrefetchRange): [first: bigint, length: number] {
  if ('last' in range) return [fromEnd, range.last];
  if ('endFirst' in range) return [endFirst, range.endFirst];
  return [BigInt(range.start), range.length];
}

/** @throws AntwayError `NOT_FOUND`, `DENIED`, `PEERS_UNREACHABLE` (busy, failed) or `CORRUPT` (impossible values). */
export function checkAnswer(status: number, length: number): void {
  switch (status) {
    case statuses.found:
      if (length > limits.chunkBytes) throw chunkTooLong(length);
      return;
    case statuses.notFound:
      if (length === deniedReason) throw denied();
      throw new AntwayError('NOT_FOUND', 'The peer does not have this chunk.');
    case statuses.busy:
      // In this answer, the length is the hint.
      throw busy(length);
    case statuses.failed:
      throw unavailable('The peer failed to read this chunk.');
    default:
      throw new AntwayError('CORRUPT', `The peer answered with an unknown status, ${status}.`);
  }
}

/** The peer is reachable but cannot serve now. Another transport of it would not help. */
export function unavailable(message: string): AntwayError {
  return new AntwayError('PEERS_UNREACHABLE', message, { answered: true });
}

/**
 * The peer looks the record up, or has too much to do: it may serve the record later.
 * @param afterMs the peer's hint when to ask again. The hint for a lookup is at least the default.
 */
export function busy(afterMs = 0, isOverloaded = false): AntwayError {
  const { default: lookup, min, max } = limits.busyMs;
  const hint: BusyHint = {
    afterMs: Math.min(Math.max(afterMs || lookup, min), max),
    isOverloaded: isOverloaded || afterMs < lookup,
  };
  return new AntwayError('PEERS_UNREACHABLE', 'The peer is busy.', { answered: true, busy: hint });
}

export interface BusyHint {
  /** When to ask the peer again, in milliseconds. */
  afterMs: number;
  /** Whether the peer has too much to do, so that another peer should be asked at once. */
  isOverloaded: boolean;
}

/** Undefined unless the error is the answer “busy”. */
export function busyHint({ details }: AntwayError): BusyHint | undefined {
  return details.busy as BusyHint | undefined;
}

/** The peer's operator has blocked the address. Other peers may serve it. */
export function denied(): AntwayError {
  return new AntwayError('DENIED', 'The operator of this peer has blocked this address.');
}

export function chunkTooLong(length: number): AntwayError {
  return new AntwayError(
    'CORRUPT',
    `The peer sent ${length} bytes; a chunk has at most ${limits.chunkBytes}.`,
  );
}

/** @throws AntwayError `UNSUPPORTED` if the bytes are not JSON, or as `parseInfo`. */
export function decodeInfo(bytes: Uint8Array | undefined): PeerInfo {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new AntwayError(
      'UNSUPPORTED',
      'The server that answered does not describe itself as a peer.',
      {},
      { cause },
    );
  }
  return parseInfo(value);
}

/** @throws AntwayError `UNSUPPORTED` if it is no description of a peer, or has another protocol version. */
export function parseInfo(value: unknown): PeerInfo {
  const info = Object(value) as Partial<PeerInfo>;
  const { protocols = [info.protocol] } = info as { protocols?: unknown };
  const versions = Array.isArray(protocols) ? protocols.filter(Number.isInteger) : [];
  if (!versions.includes(version)) {
    throw new AntwayError(
      'UNSUPPORTED',
      `The peer does not speak version ${version} of the peer protocol. It speaks: ${versions.slice(0, 8).join(', ') || 'none'}.`,
    );
  }
  const transport = info.webTransport ?? null;
  const hashes = transport?.certificateHashes;
  if (
    transport &&
    !(
      (transport.host === undefined || isHost(transport.host)) &&
      Number.isInteger(transport.port) &&
      transport.port > 0 &&
      transport.port < 65_536 &&
      /^\/[\w./-]*$/.test(transport.path) &&
      Array.isArray(hashes) &&
      hashes.every((hash) => typeof hash === 'string' && /^[0-9a-f]{64}$/i.test(hash))
    )
  ) {
    throw new AntwayError('UNSUPPORTED', 'The peer describes its WebTransport in a way that is not known.');
  }
  return {
    name: textOf(info.name, limits.peerNameText) ?? '',
    version: textOf(info.version, limits.peerNameText) ?? '',
    protocol: version,
    webTransport: transport,
    operations: Array.isArray(info.operations) ? info.operations.filter(Number.isInteger) : [],
    peers: Array.isArray(info.peers) ? info.peers.filter((url) => typeof url === 'string') : [],
    network: parseNetwork(info.network),
  };
}

/** Lenient: the description only explains and never decides what is trusted. */
function parseNetwork(value: unknown): PeerNetwork | null {
  if (typeof value !== 'object' || value === null) return null;
  const { name, state, peers, since, problem } = value as Record<string, unknown>;
  const { networkText: max } = limits;
  return {
    name: textOf(name, max.name) ?? 'unknown',
    state: textOf(state, max.state) ?? 'unknown',
    peers: Number.isSafeInteger(peers) && (peers as number) >= 0 ? (peers as number) : null,
    since: textOf(since, max.since),
    problem: textOf(problem, max.problem),
  };
}

/** Null if there is no text. @param length the most UTF-16 units. */
function textOf(part: unknown, length: number): string | null {
  return (typeof part === 'string' && replaceDisruptive(part.slice(0, length), '')) || null;
}

function isHost(value: unknown): boolean {
  return typeof value === 'string' && /^([a-z0-9.-]+|\[[0-9a-f:.]+\])$/i.test(value);
}
