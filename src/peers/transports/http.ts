import type { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { PeerUrl } from '../../peer-url.ts';
import { transferMs, Watchdog } from '../../util/watchdog.ts';
import { ByteReader } from './byte-reader.ts';
import { type Dialect, dialects } from './dialect.ts';
import { busy, chunkTooLong, decodeInfo, denied, type PeerInfo, unavailable } from './protocol.ts';
import type { Transport } from './transport.ts';

/** `/chunk/<address>` and `/-/info`. A CDN with that layout works too. AntTP and antd serve only chunks. */
export class HttpTransport implements Transport {
  readonly name = 'http';
  readonly #peer: PeerUrl;
  readonly #dialect: Dialect;
  readonly #onBytes: (length: number) => void;

  /** @param onBytes called with the number of bytes of every arriving piece. */
  constructor(peer: PeerUrl, onBytes: (length: number) => void = () => {}) {
    this.#peer = peer;
    this.#dialect = dialects[peer.kind];
    this.#onBytes = onBytes;
  }

  get url(): string {
    return this.#peer.id;
  }

  async fetch(
    address: Address,
    signal: AbortSignal,
    onFirstByte?: () => void,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { path, maxBytes, decode } = this.#dialect;
    return this.request(path(address), {}, signal, async (response, reader) => {
      if (isAbsent(response)) throw new AntwayError('NOT_FOUND', 'The peer does not have this chunk.');
      if (response.status !== 200) throw await refusal(response, reader);
      onFirstByte?.();
      const declared = response.headers.get('Content-Length');
      if (declared !== null && Number(declared) > maxBytes) throw chunkTooLong(Number(declared));
      const answer = await reader.readToEnd(maxBytes);
      if (!answer) throw new AntwayError('CORRUPT', `The peer sent more than ${maxBytes} bytes for a chunk.`);
      return decode(answer);
    });
  }

  /** The record is not verified. @throws as `fetch`. */
  async pointer(address: Address, maxBytes: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return this.request(`/pointer/${address.hex}`, {}, signal, async (response, reader) => {
      if (response.status === 404) throw new AntwayError('NOT_FOUND', 'The peer does not have this pointer.');
      if (response.status !== 200) throw await refusal(response, reader);
      const bytes = await reader.readToEnd(maxBytes);
      if (!bytes)
        throw new AntwayError('CORRUPT', `The peer sent more than ${maxBytes} bytes for a pointer.`);
      return bytes;
    });
  }

  /** @throws as `fetch`, except `NOT_FOUND`. */
  async has(address: Address, signal?: AbortSignal): Promise<boolean> {
    return this.request(`/chunk/${address.hex}`, { method: 'HEAD' }, signal, async (response) => {
      if (response.ok) return true;
      if (response.status === 404 || response.status === 451) return false;
      throw unexpected(response);
    });
  }

  /** @throws AntwayError `UNSUPPORTED` if the server is not a peer of this protocol version. */
  async info(signal?: AbortSignal, onFirstByte?: () => void): Promise<PeerInfo> {
    return this.request('/-/info', {}, signal, async (response, reader) => {
      onFirstByte?.();
      return decodeInfo(response.ok ? await reader.readToEnd(limits.infoBytes) : undefined);
    });
  }

  /**
   * Resolves to true if a server answers. AntTP and antd allow other origins only for some of their answers (CORS), so
   * the answer of a program on this computer is not read. Such a request follows redirects, which a foreign server could
   * abuse to reach the local network, so foreign servers must allow this origin.
   * @returns undefined if that cannot be found out.
   */
  async ping(signal: AbortSignal): Promise<true | undefined> {
    const init: RequestInit = this.#peer.isLoopback ? { mode: 'no-cors', redirect: 'follow' } : {};
    try {
      return await this.request(this.#dialect.ping, init as object, signal, async () => true as const);
    } catch (error) {
      if (this.#peer.isLoopback) throw error;
      return undefined;
    }
  }

  /** Runs under the watchdog. `use` reads the answer; the unread rest of the body is cancelled. */
  protected async request<T>(
    path: string,
    init: Omit<RequestInit, 'body'> & { body?: Uint8Array<ArrayBuffer> },
    signal: AbortSignal | undefined,
    use: (response: Response, reader: ByteReader) => Promise<T>,
  ): Promise<T> {
    // `fetch` reports no upload progress, so add the time for the request's body in advance.
    const stallMs = limits.stallMs + transferMs(init.body?.length ?? 0);
    const watchdog = new Watchdog({ stallMs, totalMs: stallMs + transferMs(limits.chunkBytes), signal });
    let reader: ByteReader | undefined;
    try {
      const response = await fetch(this.#peer.origin + path, {
        cache: 'no-store', // chunks have their own store
        credentials: 'omit',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
        ...init,
        signal: watchdog.signal,
      });
      watchdog.touch();
      reader = new ByteReader(response.body ?? new Response('').body!, (length) => {
        watchdog.touch();
        this.#onBytes(length);
      });
      return await use(response, reader);
    } catch (error) {
      if (watchdog.signal.aborted) throw watchdog.signal.reason;
      if (error instanceof AntwayError) throw error;
      throw new AntwayError(
        'PEERS_UNREACHABLE',
        `${this.url} cannot be reached by HTTP.`,
        {},
        { cause: error },
      );
    } finally {
      watchdog.stop();
      void reader?.cancel(); // not awaited: the watchdog has stopped
    }
  }
}

/** AntTP and antd answer 404 or 410 for a chunk that does not exist. */
function isAbsent({ status }: Response): boolean {
  return status === 404 || status === 410;
}

/** The error for an answer to a request for a chunk or a pointer. */
async function refusal(response: Response, reader: ByteReader): Promise<AntwayError> {
  const { status, headers } = response;
  if (status === 451) return denied();
  if (status !== 503 && status !== 429) return unexpected(response);
  const hint = headers.get('Retry-After');
  const afterMs = hint !== null && /^\s*\d{1,6}\s*$/.test(hint) ? 1000 * Number(hint) : undefined;
  // Without this header, or if CORS hides it, only the body shows that a peer answered and not a proxy in front of it.
  if (afterMs === undefined) {
    const { code } = await errorOf(reader);
    if (code !== 'BUSY' && code !== 'RATE') return unexpected(response);
  }
  // A lookup is never the reason for 429.
  return busy(afterMs, status === 429);
}

export function unexpected(response: Response, said = ''): AntwayError {
  const why = said && `: ${said}`;
  return unavailable(`The peer answered with HTTP status ${response.status}${why}.`);
}

/** The JSON of a peer's error. The message is the whole body if it is no such JSON. */
export async function errorOf(reader: ByteReader): Promise<{ code?: unknown; message: string }> {
  const text = new TextDecoder().decode((await reader.readToEnd(limits.infoBytes)) ?? new Uint8Array());
  try {
    const { code, message = text } = JSON.parse(text) as { code?: unknown; message?: unknown };
    return { code, message: String(message) };
  } catch {
    return { message: text };
  }
}
