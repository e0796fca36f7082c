import type { Address } from '../address.ts';
import { type DataMap, decodeDataMap } from '../self-encryption/data-map.ts';
import { readInnerMap, unshrink } from '../self-encryption/file.ts';
import type { Trace } from '../stats/trace.ts';
import { LruCache } from '../util/lru-cache.ts';
import { SingleFlight } from '../util/single-flight.ts';
import type { ChunkReader } from './content-file.ts';

/** A record, decoded as far as it is a data map. */
export interface DecodedRecord {
  bytes: number;
  /** Undefined if the record is the content itself. */
  map: DataMap | undefined;
}

/** Memory for the maps of records, and as much for the maps inside nested maps, in bytes (estimated). */
const rememberedBytes = 8 * 1024 * 1024;
/** Estimated memory of a record that is no map, in bytes. */
const recordBytes = 80;

/** Decodes each record and each nested map once for all callers. */
export class DataMaps {
  readonly #decoded = new LruCache<DecodedRecord>(
    rememberedBytes,
    ({ map }) => map?.memoryBytes ?? recordBytes,
  );
  /** By the nested map that contains them. */
  readonly #inner = new LruCache<DataMap, DataMap>(
    rememberedBytes,
    (inner, nested) => inner.memoryBytes + nested.memoryBytes,
  );
  /** Readers do not share failures: one may read only stored chunks, another also fetches. */
  readonly #reading = new WeakMap<Pick<ChunkReader, 'read'>, SingleFlight<DataMap, DataMap>>();

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

  /**
   * Returns the map of the file itself. Callers with the same reader share the work; each of them may abort.
   * @param onNested called with each nested map before its chunks are read, also if they need not be read again.
   * @throws AntwayError as `unshrink` and `readInnerMap`, and the errors of the reader.
   */
  fileMap(
    map: DataMap,
    reader: Pick<ChunkReader, 'read'>,
    onNested: (nested: DataMap) => void | Promise<void>,
    signal?: AbortSignal,
    trace?: Trace,
  ): Promise<DataMap> {
    return unshrink(map, async (nested) => {
      await onNested(nested);
      const known = this.#inner.get(nested);
      if (known) return known;
      let reading = this.#reading.get(reader);
      if (!reading) {
        reading = new SingleFlight();
        this.#reading.set(reader, reading);
      }
      return reading.run(
        nested,
        signal,
        async (shared) => {
          const inner = await readInnerMap(nested, (_, index) => reader.read(nested, index, shared, trace));
          this.#inner.set(nested, inner);
          return inner;
        },
        () => {
          if (trace) trace.chunks.joined += nested.count;
        },
      );
    });
  }
}
