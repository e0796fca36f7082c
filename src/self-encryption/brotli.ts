import initDecoder, { BrotliDecStream, BrotliStreamResultCode, type InitInput } from 'brotli-dec-wasm/web';
import { AntwayError } from '../errors.ts';

/**
 * Decompresses one Brotli stream.
 * @throws AntwayError `CORRUPT` if the stream is damaged, ends early, or contains more than `maxBytes`.
 */
export type BrotliDecoder = (compressed: Uint8Array, maxBytes: number) => Uint8Array<ArrayBuffer>;

/** Rust crate `brotli`, quality 6, window 22. Addresses depend on its output, so no other encoder can replace it. */
export type BrotliEncoder = (bytes: Uint8Array) => Uint8Array;

/** @param wasm the bytes of `brotli-dec-wasm/web/bg.wasm`, or a `Response` with them. */
export async function loadBrotliDecoder(wasm: InitInput | Promise<InitInput>): Promise<BrotliDecoder> {
  await initDecoder({ module_or_path: wasm });
  return (compressed, maxBytes) => {
    const stream = new BrotliDecStream();
    try {
      // One byte beyond the limit: a stream that fills it is too long.
      const result = stream.dec(compressed, maxBytes + 1);
      const { code, buf } = result;
      result.free();
      if (code === BrotliStreamResultCode.ResultSuccess && buf.length <= maxBytes) {
        return buf as Uint8Array<ArrayBuffer>;
      }
      throw corrupt(
        code === BrotliStreamResultCode.NeedsMoreInput
          ? 'its compressed data ends early'
          : 'it holds more bytes than its data map says',
      );
    } catch (error) {
      throw error instanceof AntwayError ? error : corrupt('its compressed data is damaged', error);
    } finally {
      stream.free();
    }
  };
}

function corrupt(why: string, cause?: unknown): AntwayError {
  return new AntwayError('CORRUPT', `A chunk cannot be decompressed: ${why}.`, {}, { cause });
}
