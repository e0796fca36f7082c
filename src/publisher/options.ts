import { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { AntError } from '../fetch/ant-error.ts';
import { refuseUnknown } from '../fetch/options.ts';
import { storePointer } from '../owner/move-pointer.ts';
import { PeerUrl } from '../peer-url.ts';
import { uploadTargetAt } from '../peers/upload-target.ts';
import { type ChunkSink, uploadTo } from '../publish/upload.ts';
import { mostThreads } from './encrypt-workers.ts';
import type { AntPublisherOptions, AntSink, AntWholeSink } from './types.ts';

export interface ParsedOptions {
  sink: ChunkSink | AntWholeSink;
  putPointer: AntSink['putPointer'];
  threads: number;
}

/**
 * @param closed closes the connections to peers.
 * @throws TypeError for an unknown option or a wrong type, AntError `BAD_CONFIG` for a wrong peer.
 */
export function parseOptions(options: AntPublisherOptions, closed: AbortSignal): ParsedOptions {
  refuseUnknown('createPublisher', options, ['peers', 'token', 'sink', 'threads']);
  const { peers, token, sink, threads = mostThreads } = options;
  if (!Number.isSafeInteger(threads) || threads < 1) {
    throw new TypeError('createPublisher: “threads” must be a number of threads, at least 1.');
  }
  if ((peers === undefined) === (sink === undefined)) {
    throw new TypeError('createPublisher: give either “peers” or “sink”.');
  }
  if (sink) {
    const isWhole = 'storeAll' in sink;
    if (typeof (isWhole ? sink.storeAll : sink.put) !== 'function')
      throw new TypeError('createPublisher: “sink” must be an object with put or storeAll.');
    return {
      sink: isWhole ? sink : adapt((address, bytes, init) => sink.put(address, bytes, init)),
      putPointer: sink.putPointer?.bind(sink),
      threads,
    };
  }
  if (!Array.isArray(peers) || peers.length === 0) {
    throw new TypeError('createPublisher: “peers” must be a list with at least one URL.');
  }
  try {
    const targets = peers.map((url) =>
      uploadTargetAt(PeerUrl.parse(url, globalThis.location?.origin), closed),
    );
    return {
      sink: uploadTo(targets, token ? { token } : {}),
      threads,
      async putPointer(address, record, { signal }) {
        const peers = targets.map((target) => ({
          url: target.url,
          putPointer: target.putPointer?.bind(target) ?? takesNone(target.url),
        }));
        await storePointer(Address.fromHex(address), Uint8Array.from(record), { peers, token, signal });
      },
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new AntError('BAD_CONFIG', message, [], { cause: error });
  }
}

/** Browsers accept no pinned certificates over HTTP, and peers take pointers only there. */
function takesNone(url: string): () => Promise<never> {
  return async () => {
    throw new AntwayError('UNSUPPORTED', `${url} takes no pointers by WebTransport.`, { peer: url });
  };
}

/** A caller's sink. It may fail with anything, and may never answer. */
export function adapt(put: AntSink['put']): ChunkSink {
  return {
    async store({ address, bytes }, signal) {
      const stored = (async () => put(address.hex, bytes, { signal }))();
      return (await untilAborted(stored, signal)) === 'present' ? 'present' : 'stored';
    },
  };
}

/** @throws the reason of an abort at once; AntwayError `INTERNAL` for errors without a code. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { signal: done.signal });
  });
  try {
    return await Promise.race([promise, aborted]);
  } catch (error) {
    if (signal.aborted || error instanceof AntwayError || error instanceof AntError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new AntwayError('INTERNAL', `The sink failed: ${message}`, {}, { cause: error });
  } finally {
    done.abort();
  }
}
