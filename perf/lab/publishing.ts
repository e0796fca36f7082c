import { encryptFile } from '../../src/self-encryption/file.ts';
import type { RandomAccess } from '../../src/util/random-access.ts';
import { codec } from '../../tests/support/publish.ts';
import { type Expected, sampleBytes, sha256 } from './content.ts';

export interface PublishedFile {
  /** 64 hex digits. */
  address: string;
  /** Addresses of all its records, the data map's last. */
  records: string[];
  /** The expected results of moving all of them, one after the other. */
  encrypted: Expected;
}

/** Records on their way to the peer at one time. */
const uploads = 4;
/** Shorter files' records are compared whole. */
const keptBytes = 8 * 1024 * 1024;
const samplesPerFile = 16;

/** Takes records: a peer, or an AntTP. */
export interface RecordSink {
  put(address: string, bytes: Uint8Array): Promise<void>;
}

/** Encrypts a file and stores its records. */
export async function publishFile(
  source: RandomAccess,
  sinks: readonly RecordSink[],
): Promise<PublishedFile> {
  const records: { address: string; size: number; start: Uint8Array }[] = [];
  const isKept = source.size <= keptBytes;
  const underWay: Promise<unknown>[] = [];
  const { address } = await encryptFile(codec, source, {
    async emit({ address, bytes }) {
      records.push({
        address: address.hex,
        size: bytes.length,
        start: isKept ? bytes : bytes.slice(0, sampleBytes),
      });
      if (underWay.length === uploads) await underWay.shift();
      underWay.push(Promise.all([...new Set(sinks)].map((sink) => sink.put(address.hex, bytes))));
    },
  });
  await Promise.all(underWay);
  return {
    address: address.hex,
    records: records.map(({ address }) => address),
    encrypted: expectedRecords(records, isKept),
  };
}

function expectedRecords(records: readonly { size: number; start: Uint8Array }[], isKept: boolean): Expected {
  const size = records.reduce((sum, record) => sum + record.size, 0);
  if (isKept) return { size, sha256: sha256(records.map(({ start }) => start)) };
  let at = 0;
  const starts = records.flatMap((record) => {
    const position = at;
    at += record.size;
    return record.size >= sampleBytes ? [{ position, start: record.start }] : [];
  });
  const chosen = starts.filter((_, i) => i % Math.ceil(starts.length / samplesPerFile) === 0);
  return {
    size,
    sha256: sha256(chosen.map(({ start }) => start)),
    samples: chosen.map(({ position }) => position),
  };
}
