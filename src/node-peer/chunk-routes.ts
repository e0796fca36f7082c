import type { IncomingMessage, ServerResponse } from 'node:http';
import { Address } from '../address.ts';
import { type Pointer, parsePointer } from '../content/pointer.ts';
import { limits } from '../limits.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import { allowReading, answerPreflight, isPreflight, matchesEtag, mayWrite } from './access.ts';
import { AnswerPlaces, breakOffIfUnread } from './answer-places.ts';
import { HttpError, sendJson } from './http-error.ts';
import type { PeerStore } from './peer-store.ts';

/** Chunks in memory for answers that clients have not read yet. More requests wait. */
const maxOpenAnswers = 64;
/** How long a request waits for its place. */
const answerWaitMs = 10_000;
/** A refused upload is read up to a chunk's size, for at most this long. See `discard`. */
const refusalLingerMs = 2_000;
const lowerCaseHex = /^[0-9a-f]{64}$/;

export interface ChunkRoutesOptions {
  store: PeerStore;
  blake3: Blake3;
  /** `none` refuses all writes. */
  write: 'open' | 'none';
  /** The version of this program, for `/-/info`. */
  version: string;
  /** For tests: how long a request waits for a place among the open answers. */
  answerWaitMs?: number;
  /** How long a client may read nothing of its answer. */
  writeTimeoutMs: number;
}

/** The routes of the peer protocol over HTTP, as docs/reference/protocol.md specifies them. */
export class ChunkRoutes {
  readonly #options: ChunkRoutesOptions;
  readonly #places: AnswerPlaces;

  constructor(options: ChunkRoutesOptions) {
    this.#options = options;
    this.#places = new AnswerPlaces(maxOpenAnswers, options.answerWaitMs ?? answerWaitMs);
  }

  /** Whether `answer` answers requests for this path. */
  static owns(path: string): boolean {
    return path.startsWith('/chunk/') || path.startsWith('/pointer/') || checks.includes(path);
  }

  /** @throws HttpError; the errors of the store. */
  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    allowReading(response);
    if (isPreflight(request)) return answerPreflight(request, response);
    const [, kind, name = ''] = /^\/(chunk|pointer)\/(.*)$/.exec(path) ?? [];
    if (kind && request.method === 'PUT') return this.#put(request, response, kind, name);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', kind ? 'GET,HEAD,PUT' : 'GET,HEAD');
      throw new HttpError('METHOD');
    }
    if (kind === 'chunk') return this.#get(request, response, name);
    if (kind === 'pointer') return this.#getPointer(request, response, name);
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
    await this.#places.take(request, response);
    const bytes = await this.#options.store.read(address);
    if (!bytes) throw new HttpError('NOT_FOUND');
    setImmutable(response, etag);
    breakOffIfUnread(response, this.#options.writeTimeoutMs);
    sendBytes(request, response, bytes);
  }

  async #getPointer(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const record = await this.#options.store.pointer(addressOf(name));
    if (!record) throw new HttpError('NOT_FOUND');
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
          ? await this.#storePointer(request, address)
          : await this.#storeChunk(request, address);
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

  async #storeChunk(request: IncomingMessage, address: Address) {
    const bytes = await readBody(request, limits.chunkBytes);
    if (Address.fromBytes(this.#options.blake3(bytes)).hex !== address.hex) throw new HttpError('MISMATCH');
    return this.#options.store.write(address, bytes);
  }

  async #storePointer(request: IncomingMessage, address: Address) {
    const record = Uint8Array.from(await readBody(request, limits.pointerBytes));
    return this.#options.store.writePointer(address, verifiedPointer(record, address));
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
  response.setHeader('Content-Type', 'application/octet-stream');
  response.setHeader('Content-Length', bytes.length);
  response.writeHead(200).end(request.method === 'HEAD' ? undefined : bytes);
}

/** @throws HttpError `BAD_POINTER` unless the owner of the address signed the record. */
function verifiedPointer(record: Uint8Array<ArrayBuffer>, address: Address): Pointer {
  try {
    return parsePointer(record, address);
  } catch (cause) {
    throw new HttpError('BAD_POINTER', { cause });
  }
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new HttpError('TOO_LARGE');
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      length += piece.length;
      if (length > maxBytes) throw new HttpError('TOO_LARGE');
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof HttpError ? error : new HttpError('BAD_REQUEST', { cause: error });
  }
  return Buffer.concat(pieces, length);
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
