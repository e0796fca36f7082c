import type { Address } from '../address.ts';
import { type DataMap, decodeDataMap } from '../self-encryption/data-map.ts';
import { LruCache } from '../util/lru-cache.ts';

/** A record, decoded as far as it is a data map. */
export interface DecodedRecord {
  bytes: number;
  /** Undefined if the record is the content itself. */
  map: DataMap | undefined;
}

/** Memory for decoded data maps, in bytes (estimated). */
const rememberedBytes = 16 * 1024 * 1024;
const bytesPerChunk = 80;

/** Decodes each record once for all callers. */
export class DataMaps {
  readonly #decoded = new LruCache<DecodedRecord>(
    rememberedBytes,
    ({ map }) => ((map?.count ?? 0) + 1) * bytesPerChunk,
  );

  /** Returns the decoded record at an address, if it is in the cache. */
  known({ hex }: Address): DecodedRecord | undefined {
    return this.#decoded.get(hex);
  }

  /** @param bytes the verified bytes of the record. @throws AntwayError `UNSUPPORTED` for an unknown version. */
  decode({ hex }: Address, bytes: Uint8Array): DecodedRecord {
    const known = this.#decoded.get(hex);
    if (known) return known;
    const decoded = { bytes: bytes.length, map: decodeDataMap(bytes) };
    this.#decoded.set(hex, decoded);
    return decoded;
  }
}
