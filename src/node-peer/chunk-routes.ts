import type { IncomingMessage, ServerResponse } from 'node:http';
import { Address, equalBytes } from '../address.ts';
import { type Pointer, parsePointer } from '../content/pointer.ts';
import { limits } from '../limits.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import { allowReading, answerPreflight, isPreflight, matchesEtag, mayUse, mayWrite } from './access.ts';
import { AnswerPlaces, breakOffIfUnread, type Place } from './answer-places.ts';
import { HttpError, sendJson } from './http-error.ts';
import type { PeerStore } from './peer-store.ts';
import { ReadTurns } from './read-turns.ts';
import { readOn, sendPieces } from './send-pieces.ts';

/** Chunks in memory for answers. More requests wait. More at a time would delay short answers: each takes the thread. */
const maxOpenAnswers = 16;
/** Records that are read and verified at a time. The next client waits for them. */
const maxReads = 2;
/** An answer of this size needs no place: the connection takes it at once. */
const pieceBytes = 128 * 1024;
/** Uploads in memory. More requests wait. */
const maxOpenUploads = 16;
/** How long an upload may take. Clients of this peer are programs of the same machine. */
const uploadMs = 20_000;
/** How long a request waits for its place. */
const answerWaitMs = 10_000;
/** A refused upload is read up to a chunk's size, for at most this long. See `discard`. */
const refusalLingerMs = 2_000;
/** So many pieces of a body may have any size. Of more, each has so many bytes on average. */
const freePieces = 1_024;
const leastPieceBytes = 64;
const lowerCaseHex = /^[0-9a-f]{64}$/;

export interface ChunkRoutesOptions {
  store: PeerStore;
  blake3: Blake3;
  /** `none` refuses all writes. */
  write: 'open' | 'none';
  /** The pages that may use the chunks besides those of this machine: origins, or `*`. */
  allowOrigins?: readonly string[] | undefined;
  /** The version of this program, for `/-/info`. */
  version: string;
  /** For tests: how long a request waits for a place among the open answers. */
  answerWaitMs?: number;
  /** For tests: how long an upload may take. */
  uploadMs?: number;
  /** How long a client may read nothing of its answer. */
  writeTimeoutMs: number;
}

/** The routes of the peer protocol over HTTP, as docs/reference/protocol.md specifies them. */
export class ChunkRoutes {
  readonly #options: ChunkRoutesOptions;
  readonly #places: AnswerPlaces;
  readonly #turns = new ReadTurns(maxReads);
  readonly #uploadPlaces: AnswerPlaces;

  constructor(options: ChunkRoutesOptions) {
    this.#options = options;
    const waitMs = options.answerWaitMs ?? answerWaitMs;
    this.#places = new AnswerPlaces(maxOpenAnswers, waitMs);
    this.#uploadPlaces = new AnswerPlaces(maxOpenUploads, waitMs);
  }

  /** Whether `answer` answers requests for this path. */
  static owns(path: string): boolean {
    return path.startsWith('/chunk/') || path.startsWith('/pointer/') || checks.includes(path);
  }

  /** @throws HttpError; the errors of the store. */
  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const isAllowed = mayUse(request, this.#options.allowOrigins ?? []);
    response.setHeader('Vary', 'Origin');
    if (isAllowed) allowReading(request, response);
    if (isPreflight(request)) return answerPreflight(request, response);
    // `#put` reads what a refused client is sending.
    if (!isAllowed && request.method !== 'PUT') {
      throw new HttpError('FORBIDDEN', { message: 'this page may not use this peer; see --allow-origin' });
    }
    const [, kind, name = ''] = /^\/(chunk|pointer)\/(.*)$/.exec(path) ?? [];
    if (kind && request.method === 'PUT') return this.#put(request, response, kind, name);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', kind ? 'GET,HEAD,PUT' : 'GET,HEAD');
      throw new HttpError('METHOD');
    }
    if (kind === 'chunk') return this.#get(request, response, name);
    if (kind === 'pointer') return this.#getPointer(request, response, name);
    breakOffIfUnread(response, this.#options.writeTimeoutMs);
    if (path === '/-/info') return sendJson(response, this.#info());
    return sendJson(response, { status: path === '/-/health' ? 'ok' : 'ready' });
  }

  async #get(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const address = addressOf(name);
    const etag = `"${address}"`;
    if (matchesEtag(request, etag)) {
      setImmutable(response, etag);
      response.writeHead(304).end();
      return;
    }
    if (request.method === 'HEAD') return this.#answerHead(response, address);
    const place = await this.#places.take(response);
    try {
      const rest = await this.#sendFromMemory(request, response, address, place);
      if (rest) await this.#sendFromStore(response, address, rest);
    } finally {
      place.leave();
    }
  }

  /** Does not read the chunk: clients ask for the heads of very many. */
  async #answerHead(response: ServerResponse, address: Address): Promise<void> {
    const size = await this.#options.store.size(address);
    if (size === undefined) throw new HttpError('NOT_FOUND');
    setImmutable(response, `"${address}"`);
    breakOffIfUnread(response, this.#options.writeTimeoutMs);
    setLength(response, size);
    response.writeHead(200).end();
  }

  /** @throws HttpError `NOT_FOUND` or `BUSY` */
  async #read(response: ServerResponse, read: () => Promise<Uint8Array | undefined>): Promise<Uint8Array> {
    const record = await this.#turns.run(response, read);
    if (!record) throw new HttpError('NOT_FOUND');
    return record;
  }

  /**
   * Sends a chunk as long as the client reads or no other request needs the place. Nothing references the chunk's bytes after
   * that.
   * @returns the hashes of the pieces that are not sent, or undefined if the answer is complete.
   */
  async #sendFromMemory(
    request: IncomingMessage,
    response: ServerResponse,
    address: Address,
    place: Place,
  ): Promise<Rest | undefined> {
    const { store, blake3, writeTimeoutMs } = this.#options;
    const bytes = await this.#read(response, () => store.read(address));
    setImmutable(response, `"${address}"`);
    breakOffIfUnread(response, writeTimeoutMs);
    if (bytes.length <= pieceBytes) {
      sendBytes(request, response, bytes);
      return undefined;
    }
    setLength(response, bytes.length);
    response.writeHead(200);
    for (let at = 0; at < bytes.length; ) {
      // A copy: a part of the whole would hold it in memory as long as the connection has not taken the part.
      const isRead = response.write(bytes.slice(at, at + pieceBytes));
      at += pieceBytes;
      if (isRead || at >= bytes.length || (await place.holds(readOn(response)))) continue;
      const hashes: Uint8Array[] = [];
      for (let next = at; next < bytes.length; next += pieceBytes)
        hashes.push(blake3(bytes.subarray(next, next + pieceBytes)));
      return { at, length: bytes.length, hashes };
    }
    response.end();
    return undefined;
  }

  /** @throws Error if the store does not have the same bytes any more. */
  async #sendFromStore(
    response: ServerResponse,
    address: Address,
    { at, length, hashes }: Rest,
  ): Promise<void> {
    const { store, blake3 } = this.#options;
    const file = await store.open(address);
    if (!file) throw new Error(`The chunk ${address} was removed while a client read it.`);
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (const [i, hash] of hashes.entries()) {
        const start = at + i * pieceBytes;
        const piece = await file!.read(start, Math.min(length, start + pieceBytes));
        if (!equalBytes(blake3(piece), hash))
          throw new Error(`The chunk ${address} has changed in the store.`);
        yield piece;
      }
    }
    try {
      await readOn(response);
      await sendPieces(response, pieces(), length - at);
    } finally {
      await file.close();
    }
  }

  async #getPointer(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const address = addressOf(name);
    const record = await this.#read(response, () => this.#options.store.pointer(address));
    response.setHeader('Cache-Control', 'no-store');
    breakOffIfUnread(response, this.#options.writeTimeoutMs);
    sendBytes(request, response, record);
  }

  async #put(request: IncomingMessage, response: ServerResponse, kind: string, name: string): Promise<void> {
    try {
      const address = addressOf(name);
      if (this.#options.write === 'none' || !mayWrite(request)) throw new HttpError('FORBIDDEN');
      const outcome =
        kind === 'pointer'
          ? await this.#storePointer(request, response, address)
          : await this.#storeChunk(request, response, address);
      if (outcome === 'full') throw new HttpError('FULL');
      if (outcome === 'outdated') throw new HttpError('OUTDATED');
      if (kind === 'chunk') response.setHeader('ETag', `"${address}"`);
      response.setHeader('Cache-Control', 'no-store');
      response.setHeader('Content-Length', 0);
      response.writeHead(outcome === 'stored' ? 201 : 200).end();
    } catch (error) {
      await discard(request);
      throw error;
    }
  }

  async #storeChunk(request: IncomingMessage, response: ServerResponse, address: Address) {
    const bytes = await this.#readBody(request, response, limits.chunkBytes);
    if (Address.fromBytes(this.#options.blake3(bytes)).hex !== address.hex) throw new HttpError('MISMATCH');
    return this.#options.store.write(address, bytes);
  }

  async #storePointer(request: IncomingMessage, response: ServerResponse, address: Address) {
    const record = Uint8Array.from(await this.#readBody(request, response, limits.pointerBytes));
    return this.#options.store.writePointer(address, verifiedPointer(record, address));
  }

  async #readBody(request: IncomingMessage, response: ServerResponse, maxBytes: number): Promise<Uint8Array> {
    const place = await this.#uploadPlaces.take(response);
    try {
      return await readBody(request, maxBytes, this.#options.uploadMs ?? uploadMs);
    } finally {
      place.leave();
    }
  }

  #info(): unknown {
    const { write, version, store } = this.#options;
    return {
      name: 'antway-node-peer',
      version,
      protocol: 1,
      protocols: [1],
      operations: [],
      webTransport: null,
      limits: { maxChunkBytes: limits.chunkBytes },
      write,
      store: { chunks: store.totals.chunks, bytes: store.totals.bytes },
    };
  }
}

/** The part of a chunk that is not sent. */
interface Rest {
  at: number;
  /** Of the whole chunk. */
  length: number;
  /** Of each piece from there on. */
  hashes: readonly Uint8Array[];
}

const checks = ['/-/info', '/-/health', '/-/ready'];

function addressOf(name: string): Address {
  if (!lowerCaseHex.test(name)) throw new HttpError('BAD_ADDRESS');
  return Address.fromHex(name);
}

function setImmutable(response: ServerResponse, etag: string): void {
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
}

function sendBytes(request: IncomingMessage, response: ServerResponse, bytes: Uint8Array): void {
  setLength(response, bytes.length);
  response.writeHead(200).end(request.method === 'HEAD' ? undefined : bytes);
}

function setLength(response: ServerResponse, length: number): void {
  response.setHeader('Content-Type', 'application/octet-stream');
  response.setHeader('Content-Length', length);
}

/** @throws HttpError `BAD_POINTER` unless the owner of the address signed the record. */
function verifiedPointer(record: Uint8Array<ArrayBuffer>, address: Address): Pointer {
  try {
    return parsePointer(record, address);
  } catch (cause) {
    throw new HttpError('BAD_POINTER', { cause });
  }
}

/** @throws HttpError `TOO_LARGE`, `TIMEOUT`, or `BAD_REQUEST` for an incomplete body. */
async function readBody(request: IncomingMessage, maxBytes: number, maxMs: number): Promise<Uint8Array> {
  const declared = request.headers['content-length'];
  if (Number(declared ?? 0) > maxBytes) throw new HttpError('TOO_LARGE');
  // Not a list of pieces: a client can send a piece for each byte.
  const bytes = new Uint8Array(declared === undefined ? maxBytes : Number(declared));
  let length = 0;
  let pieces = 0;
  await new Promise<void>((resolve, reject) => {
    const fail = (error: HttpError) => {
      request.off('data', take);
      clearTimeout(timer);
      reject(error);
    };
    const timer = setTimeout(() => fail(new HttpError('TIMEOUT')), maxMs);
    const take = (piece: Uint8Array) => {
      if (length + piece.length > bytes.length) return fail(new HttpError('TOO_LARGE'));
      bytes.set(piece, length);
      length += piece.length;
      pieces++;
      // Each piece costs as much time as a small request.
      if (pieces > freePieces && length < leastPieceBytes * pieces) request.destroy();
    };
    request
      .on('data', take)
      .once('error', (cause) => fail(new HttpError('BAD_REQUEST', { cause })))
      .once('close', () => fail(new HttpError('BAD_REQUEST')))
      .once('end', () => {
        clearTimeout(timer);
        resolve();
      });
  });
  return bytes.subarray(0, length);
}

/**
 * Reads the rest of a refused upload, up to a chunk's size. If the connection closes while the client is sending, the
 * client gets a reset and may never read the error.
 */
async function discard(request: IncomingMessage): Promise<void> {
  const signal = AbortSignal.timeout(refusalLingerMs);
  let remaining = limits.chunkBytes;
  await new Promise<void>((resolve) => {
    if (request.readableEnded || request.destroyed) return resolve();
    signal.addEventListener('abort', () => resolve());
    request
      .once('close', resolve)
      .once('end', resolve)
      .once('error', () => resolve());
    request.on('data', (piece: Buffer) => {
      remaining -= piece.length;
      if (remaining < 0) resolve();
    });
    request.resume();
  });
}
