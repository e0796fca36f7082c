import { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { transferMs } from '../../util/watchdog.ts';
import type { ByteReader } from './byte-reader.ts';
import type { PutOptions } from './http-writer.ts';
import { checkStored, encodePut } from './protocol.ts';
import { WebTransportTransport } from './webtransport.ts';

/** Also writes to a peer. The gateway's worker writes nothing, so it does not load this. */
export class WebTransportWriter extends WebTransportTransport {
  /** @throws AntwayError as `checkStored`; `CORRUPT` if the peer received other bytes. */
  put(address: Address, bytes: Uint8Array, { token = '', signal }: PutOptions): Promise<void> {
    // The stream reports no upload progress, so add the time for the request's body in advance.
    const totalMs = limits.stallMs + transferMs(bytes.length);
    const whole = signal ?? new AbortController().signal;
    const read = async (reader: ByteReader) => {
      const [status, ...stored] = await reader.read(1 + 32);
      checkStored(status!);
      if (!Address.fromBytes(Uint8Array.from(stored)).equals(address)) {
        throw new AntwayError('CORRUPT', 'The peer has stored other bytes than were sent.');
      }
    };
    return this.request(encodePut(token, bytes), totalMs, whole, read, { stallMs: totalMs });
  }
}
