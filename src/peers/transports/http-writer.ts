import type { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { ByteReader } from './byte-reader.ts';
import { errorOf, HttpTransport, unexpected } from './http.ts';
import { parseInfo } from './protocol.ts';

export interface PutOptions {
  token?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The time to find out why a write got no answer. */
const checkMs = 5_000;
/** The name of the peers of `antway`, which have no `--write-token` and no `--allow-origin`. */
const nodePeer = 'antway-node-peer';
/** The origin of a site: peers let it write only with a token, whatever their operator lists. */
const siteHost = /^[a-z2-7]{52}\./i;

/** Also writes to a peer. The gateway's worker writes nothing, so it does not load this. */
export class HttpWriter extends HttpTransport {
  /** Shared by all writes that get no answer. */
  #refusal: Promise<AntwayError | undefined> | undefined;

  /**
   * @returns whether the chunk is new to the peer.
   * @throws AntwayError `REFUSED` (token, origin, address), `TOO_LARGE` (the chunk, or the store is full),
   *   `PEERS_UNREACHABLE` if another try may succeed.
   */
  async put(address: Address, bytes: Uint8Array, options: PutOptions = {}): Promise<'stored' | 'present'> {
    const body = bytes as Uint8Array<ArrayBuffer>;
    return this.#write(`/chunk/${address.hex}`, body, options, async (response, reader) => {
      if (response.status === 201) return 'stored';
      if (response.status === 200) return 'present';
      throw await this.#notTaken('a chunk', address, response, reader);
    });
  }

  /**
   * Sends a pointer record of this address.
   * @returns `outdated` if the peer has a larger counter, or the same counter with another target.
   * @throws AntwayError `REFUSED` (token, origin, address, signature), `TOO_LARGE` if the store is full, `UNSUPPORTED` if
   *   the peer takes no pointers, `PEERS_UNREACHABLE` if another try may succeed.
   */
  async putPointer(
    address: Address,
    record: Uint8Array<ArrayBuffer>,
    options: PutOptions = {},
  ): Promise<'stored' | 'present' | 'outdated'> {
    return this.#write(`/pointer/${address.hex}`, record, options, async (response, reader) => {
      if (response.status === 201) return 'stored';
      if (response.status === 200) return 'present';
      if (response.status === 409) return 'outdated';
      if (response.status === 404 || response.status === 405) {
        const details = { address: address.hex, peer: this.url, status: response.status };
        throw new AntwayError('UNSUPPORTED', `${this.url} takes no pointers.`, details);
      }
      throw await this.#notTaken('the pointer', address, response, reader);
    });
  }

  /** The error of an answer to a write that stores nothing. */
  async #notTaken(
    what: string,
    address: Address,
    response: Response,
    reader: ByteReader,
  ): Promise<AntwayError> {
    const { message } = await errorOf(reader);
    const said = message || 'no reason given';
    const details = { address: address.hex, peer: this.url, status: response.status };
    switch (response.status) {
      case 401:
      case 403:
      case 422:
      case 451:
        return new AntwayError('REFUSED', `${this.url} refused ${what}: ${said}`, details);
      case 413:
      case 507:
        return new AntwayError('TOO_LARGE', `${this.url} has no room for ${what}: ${said}`, details);
      default:
        return unexpected(response, said);
    }
  }

  async #write<T>(
    path: string,
    body: Uint8Array<ArrayBuffer>,
    { token, signal }: PutOptions,
    use: (response: Response, reader: ByteReader) => Promise<T>,
  ): Promise<T> {
    const authorization = token ? { Authorization: `Bearer ${token}` } : {};
    const headers = { 'Content-Type': 'application/octet-stream', ...authorization };
    try {
      return await this.request(path, { method: 'PUT', headers, body }, signal, use);
    } catch (error) {
      // Browsers do not tell a page whether a server forbids the page to write, or does not answer.
      if (!((error as Error).cause instanceof TypeError)) throw error;
      this.#refusal ??= this.#findRefusal(signal);
      const refusal = await this.#refusal;
      signal?.throwIfAborted();
      throw refusal ?? error;
    }
  }

  /** @returns the error `REFUSED` if the peer answers, and takes no writes from here. Never rejects. */
  async #findRefusal(signal: AbortSignal | undefined): Promise<AntwayError | undefined> {
    // A peer must not delay an upload by answers that do not come.
    const soon = AbortSignal.timeout(checkMs);
    const own = signal ? AbortSignal.any([signal, soon]) : soon;
    const info = await this.#info(own).catch(() => undefined);
    const page = globalThis.location?.origin;
    const isForeign = page !== undefined && page !== this.url;
    const token = info?.name === nodePeer ? '' : 'Its operator can allow them with a token (--write-token).';
    const refused = (who: string, advice: string) =>
      new AntwayError('REFUSED', `${this.url} takes no writes${who}. ${advice}`.trim(), { peer: this.url });
    if (info?.write === 'none') {
      return refused('', token || 'Publish to another peer: this program takes no tokens for writes.');
    }
    if (info?.write !== 'open' || !isForeign || (await this.#answersWrite(own))) return undefined;
    const isHere = await this.#info(own).catch(() => undefined);
    if (!isHere) return undefined;
    if (page === 'null') return refused(' without a token from pages without an origin', token);
    const isSite = siteHost.test(new URL(page).hostname);
    if (isSite || !token) return refused(` without a token from pages of ${page}`, token);
    return refused(
      ` from pages of ${page}`,
      `Its operator can allow them with --allow-origin ${page}, or with a token (--write-token).`,
    );
  }

  /** Returns `name` and `write` of `/-/info`. */
  #info(signal: AbortSignal): Promise<{ name: unknown; write: unknown }> {
    return this.request('/-/info', {}, signal, async (_, reader) => {
      const info = JSON.parse(new TextDecoder().decode(await reader.readToEnd(limits.infoBytes)));
      parseInfo(info);
      return info;
    });
  }

  /** Whether this page gets an answer to a write. The path is no address, so no server stores the empty body as a chunk. */
  #answersWrite(signal: AbortSignal): Promise<boolean> {
    const headers = { 'Content-Type': 'application/octet-stream' };
    const init = { method: 'PUT', headers, body: new Uint8Array() };
    return this.request('/chunk/0', init, signal, async () => true).catch(() => false);
  }
}
