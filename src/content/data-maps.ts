import { LRUCache } from 'lru-cache';
import type { Address } from '../address.ts';
import { type DataMap, decodeDataMap } from '../self-encryption/data-map.ts';

/** What a record is. */
export interface DecodedRecord {
  /** Its own size. */
  bytes: number;
  /** Undefined for a record that is no data map: its bytes are the content. */
  map: DataMap | undefined;
}

/** Memory for decoded data maps. An estimate, in bytes. */
const rememberedBytes = 16 * 1024 * 1024;
const bytesPerChunk = 80;

/** Data maps as records hold them. Each is decoded once, whoever needs it. */
export class DataMaps {
  readonly #decoded = new LRUCache<string, DecodedRecord>({
    maxSize: rememberedBytes,
    sizeCalculation: ({ map }) => ((map?.count ?? 0) + 1) * bytesPerChunk,
  });

  /** What the record at an address is, if that is remembered. */
  known({ hex }: Address): DecodedRecord | undefined {
    return this.#decoded.get(hex);
  }

  /** @param bytes the record's, verified. @throws AntwayError `UNSUPPORTED` for an unknown version. */
  decode({ hex }: Address, bytes: Uint8Array): DecodedRecord {
    const known = this.#decoded.get(hex);
    if (known) return known;
    const decoded = { bytes: bytes.length, map: decodeDataMap(bytes) };
    this.#decoded.set(hex, decoded);
    return decoded;
  }
}
