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

/** Also writes to a peer. The gateway's worker writes nothing, so it does not load this. */
export class HttpWriter extends HttpTransport {
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
      const said = await errorMessage(reader);
      const details = { address: address.hex, peer: this.url, status: response.status };
      switch (response.status) {
        case 401:
        case 403:
        case 422:
        case 451:
          throw new AntwayError('REFUSED', `${this.url} refused a chunk: ${said}`, details);
        case 413:
        case 507:
          throw new AntwayError('TOO_LARGE', `${this.url} has no room for a chunk: ${said}`, details);
        default:
          throw unexpected(response, said);
      }
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
      const said = await errorMessage(reader);
      const details = { address: address.hex, peer: this.url, status: response.status };
      switch (response.status) {
        case 401:
        case 403:
        case 422:
        case 451:
          throw new AntwayError('REFUSED', `${this.url} refused the pointer: ${said}`, details);
        case 404:
        case 405:
          throw new AntwayError('UNSUPPORTED', `${this.url} takes no pointers.`, details);
        case 507:
          throw new AntwayError('TOO_LARGE', `${this.url} has no room for the pointer: ${said}`, details);
        default:
          throw unexpected(response, said);
      }
    });
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
      if ((error as Error).cause instanceof TypeError) await this.#checkMayWrite(path, signal);
      throw error;
    }
  }

  /** @throws AntwayError `REFUSED` if the peer answers, and takes no writes from here. */
  async #checkMayWrite(path: string, signal: AbortSignal | undefined): Promise<void> {
    const writes = await this.#writes(signal).catch(() => undefined);
    const page = globalThis.location?.origin;
    const details = { peer: this.url };
    if (writes === 'none') {
      const message = `${this.url} takes no writes. Its operator can allow them with --write-token.`;
      throw new AntwayError('REFUSED', message, details);
    }
    const isForeign = writes === 'open' && page !== undefined && page !== this.url;
    if (isForeign && !(await this.#answersTo(path, signal))) {
      const message = `${this.url} takes no writes from pages of ${page}. Its operator can allow them with --allow-origin ${page}, or with a token (--write-token).`;
      throw new AntwayError('REFUSED', message, details);
    }
    signal?.throwIfAborted();
  }

  /** Returns `write` of `/-/info`. */
  #writes(signal: AbortSignal | undefined): Promise<unknown> {
    return this.request('/-/info', {}, signal, async (_, reader) => {
      const info = JSON.parse(new TextDecoder().decode(await reader.readToEnd(limits.infoBytes)));
      parseInfo(info);
      return info.write;
    });
  }

  /** Whether this page gets an answer to a write. An empty one shows it: no record has these bytes. */
  #answersTo(path: string, signal: AbortSignal | undefined): Promise<boolean> {
    const headers = { 'Content-Type': 'application/octet-stream' };
    const init = { method: 'PUT', headers, body: new Uint8Array() };
    return this.request(path, init, signal, async () => true).catch(() => false);
  }
}

async function errorMessage(reader: ByteReader): Promise<string> {
  const { message } = await errorOf(reader);
  return message || 'no reason given';
}
