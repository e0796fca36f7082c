import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { PeerUrl } from '../peer-url.ts';
import { HttpWriter, type PutOptions } from './transports/http-writer.ts';
import { PeerTransports } from './transports/peer-transports.ts';
import { webTransportEndpointOf } from './transports/webtransport-endpoint.ts';
import { WebTransportWriter } from './transports/webtransport-writer.ts';

export interface UploadTarget {
  readonly url: string;
  /** @param size of the chunk, in bytes. @throws as `HttpTransport.has`. */
  has(address: Address, signal: AbortSignal, size: number): Promise<boolean>;
  /** @throws as `HttpWriter.put`. */
  put(address: Address, bytes: Uint8Array, options: PutOptions): Promise<'stored' | 'present'>;
  /** Undefined if the peer takes no pointers this way. @throws as `HttpWriter.putPointer`. */
  putPointer?(
    address: Address,
    record: Uint8Array<ArrayBuffer>,
    options: PutOptions,
  ): Promise<'stored' | 'present' | 'outdated'>;
}

/**
 * Prefers HTTP, because its answers are more detailed. A peer with pinned certificates needs WebTransport, because
 * browsers accept no pinned certificates over HTTP.
 * @param closed closes the connections when it aborts.
 * @throws AntwayError `PEERS_UNREACHABLE` if the browser has no WebTransport for such a peer.
 */
export function uploadTargetAt(peer: PeerUrl, closed?: AbortSignal): UploadTarget {
  const transports = new PeerTransports(peer, 'auto');
  if (transports.http) return new HttpWriter(peer);
  if (!transports.webTransport) throw transports.missing();
  const writer = new WebTransportWriter(() => webTransportEndpointOf(peer));
  closed?.addEventListener('abort', () => writer.close(), { once: true });
  return new PinnedTarget(peer.id, writer);
}

class PinnedTarget implements UploadTarget {
  readonly #transport: WebTransportWriter;

  constructor(
    readonly url: string,
    transport: WebTransportWriter,
  ) {
    this.#transport = transport;
  }

  async has(address: Address, signal: AbortSignal): Promise<boolean> {
    await this.#connected(signal);
    return this.#transport.has(address, signal);
  }

  async put(address: Address, bytes: Uint8Array, { token, signal }: PutOptions): Promise<'stored'> {
    await this.#connected(signal);
    try {
      await this.#transport.put(address, bytes, { token, signal });
      return 'stored';
    } catch (error) {
      if (!(error instanceof AntwayError)) throw error;
      throw new AntwayError(error.code, `${this.url}: ${error.message}`, {
        ...error.details,
        peer: this.url,
      });
    }
  }

  /** `WebTransportWriter` gives up after the grace time in favour of HTTP, but there is no HTTP here. */
  async #connected(signal = new AbortController().signal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#transport.isConnected) await this.#transport.connect();
  }
}
