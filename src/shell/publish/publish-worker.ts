/// <reference lib="webworker" />

import { createTarchive, encodeMember, tarEnd } from '../../archive/create-tar.ts';
import { asAntwayError, isAbort } from '../../errors.ts';
import { OwnerKey } from '../../owner/owner-key.ts';
import { signMembers } from '../../owner/sign-members.ts';
import { paymentProblemOf } from '../../payment/errors.ts';
import type { RecordToStore } from '../../payment/quotes.ts';
import { PeerUrl } from '../../peer-url.ts';
import { uploadTargetAt } from '../../peers/upload-target.ts';
import { privateManifest } from '../../publish/private-manifest.ts';
import { type Published, type PublishProgress, publishFile } from '../../publish/publish.ts';
import { type ChunkSink, uploadTo } from '../../publish/upload.ts';
import { withEncrypter } from '../../self-encryption/encrypter.ts';
import { chunkCount, type EncryptedChunk } from '../../self-encryption/file.ts';
import { type RandomAccess, streamOf } from '../../util/random-access.ts';
import { askForPrice, paidUpload, routesOf } from '../payment/network-upload.ts';
import { encryptWorkers } from './encrypt-workers.ts';
import type { EncryptedContent, PublishAnswer, PublishInput, PublishRequest } from './messages.ts';
import { NotedSink } from './noted-sink.ts';
import { publishCodec } from './publish-codec.ts';

declare const self: DedicatedWorkerGlobalScope;

/** The minimum time between two progress messages, in milliseconds. More messages would only cost time. */
const progressMs = 100;

const cancelling = new AbortController();

/** Encryption keeps a thread busy, so it runs in this worker and not in the page's thread. */
self.onmessage = async ({ data, ports: [port] }: MessageEvent<PublishRequest>) => {
  if (data.task === 'cancel') {
    cancelling.abort();
    return;
  }
  let answer: PublishAnswer;
  try {
    answer = await run(data, port);
  } catch (error) {
    answer = isAbort(error, cancelling.signal) ? { type: 'cancelled' } : failureOf(error);
  }
  sendNewest();
  self.postMessage(answer);
};

/** @param port to the nodes of the network, if the user has chosen them. */
async function run(
  request: Exclude<PublishRequest, { task: 'cancel' }>,
  port: MessagePort | undefined,
): Promise<PublishAnswer> {
  const source = await sourceOf(request);
  switch (request.task) {
    case 'measure':
      // The data map's record is one more chunk.
      return { type: 'measured', bytes: source.size, chunks: chunkCount(source.size) + 1 };
    case 'price':
      return priceOf(source, request, port);
    case 'publish': {
      const { peers, token, isPrivate, network } = request;
      const targets = peers.map((url) => uploadTargetAt(PeerUrl.parse(url)));
      const sinks = peers.length > 0 ? [uploadTo(targets, token ? { token } : {})] : [];
      const paid = network && paidUpload(routesOf(network, port), network.records, cancelling.signal);
      if (paid) sinks.push(paid.sink);
      const sink = new NotedSink(sinks);
      const published = await encrypt(source, sink, isPrivate);
      await paid?.confirm(published.address);
      const { presentChunks, uploadedBytes } = published;
      const { uploaded } = sink;
      return { type: 'published', presentChunks, uploadedBytes, uploaded, ...contentOf(request, published) };
    }
    case 'tar':
      return {
        type: 'saved',
        content: await blobOf(streamOf(source, 0, source.size, cancelling.signal)),
        encrypted: null,
      };
    case 'chunks': {
      const tar = new ChunkTar();
      const published = await encrypt(source, tar, request.isPrivate);
      return { type: 'saved', content: await tar.finish(), encrypted: contentOf(request, published) };
    }
  }
}

/** Asks for the price of all records that the upload will have. */
async function priceOf(
  source: RandomAccess,
  { network, isPrivate }: Extract<PublishRequest, { task: 'price' }>,
  port: MessagePort | undefined,
): Promise<PublishAnswer> {
  const records = new Map<string, RecordToStore>();
  const survey: ChunkSink = {
    async store({ address: { hex: address }, bytes }) {
      records.set(address, { address, size: bytes.length });
      return 'present';
    },
  };
  const { address } = await encrypt(source, survey, isPrivate);
  const routes = routesOf(network, port);
  const bill = await askForPrice([...records.values()], routes, cancelling.signal, (asked, all, what) =>
    self.postMessage({ type: 'asked', asked, all, what } satisfies PublishAnswer),
  );
  return { type: 'priced', address: address.hex, records: [...records.keys()], bill };
}

async function sourceOf({ files, isFolder, signer }: PublishInput): Promise<RandomAccess> {
  const entries = files.map(({ path, file }) => ({ path, source: fileAccess(file) }));
  if (!isFolder) return entries[0]!.source;
  if (!signer) return createTarchive(entries);
  const progress = (signed: number, all: number) => sendReport({ type: 'signing', signed, all });
  const { signal } = cancelling;
  return createTarchive(await signMembers(entries, new OwnerKey(signer), { signal, progress }));
}

function fileAccess(file: File): RandomAccess {
  return {
    size: file.size,
    read: async (start, end) => new Uint8Array(await file.slice(start, end).arrayBuffer()),
  };
}

function encrypt(source: RandomAccess, sink: ChunkSink, isPrivate: boolean) {
  const settings = { sink, isPrivate, progress: report, signal: cancelling.signal };
  return withEncrypter(publishCodec(), source.size, encryptWorkers, (codec) =>
    publishFile(source, { ...settings, codec }),
  );
}

let reportedAt = Number.NEGATIVE_INFINITY;
/** The newest report, until it is sent. The upload may stand still after it. */
let newest: PublishAnswer | undefined;

function report(progress: PublishProgress): void {
  sendReport({ type: 'progress', progress });
}

function sendReport(report: PublishAnswer): void {
  const isAnnounced = newest !== undefined;
  newest = report;
  const waitMs = reportedAt + progressMs - performance.now();
  if (waitMs <= 0) sendNewest();
  else if (!isAnnounced) setTimeout(sendNewest, waitMs);
}

function sendNewest(): void {
  if (!newest) return;
  reportedAt = performance.now();
  self.postMessage(newest);
  newest = undefined;
}

function contentOf(input: PublishInput & { isPrivate: boolean }, published: Published): EncryptedContent {
  const { address, chunks } = published;
  const manifest = input.isPrivate ? privateManifest(published, input.name) : null;
  return { address: address.hex, chunks, manifest };
}

/** Returns a blob instead of an array: browsers store large blobs on disk, not in memory. */
function blobOf(pieces: ReadableStream<Uint8Array>): Promise<Blob> {
  return new Response(pieces as ReadableStream<Uint8Array<ArrayBuffer>>).blob();
}

/** Writes chunks into a tar. Each entry is named by its address, like the files of `antway publish --out`. */
class ChunkTar implements ChunkSink {
  readonly #pieces = new TransformStream<Uint8Array, Uint8Array>();
  readonly #writer = this.#pieces.writable.getWriter();
  readonly #content = blobOf(this.#pieces.readable);

  async store({ address, bytes }: EncryptedChunk): Promise<'stored'> {
    await this.#writer.write(encodeMember(address.hex, bytes));
    return 'stored';
  }

  async finish(): Promise<Blob> {
    await this.#writer.write(tarEnd);
    await this.#writer.close();
    return this.#content;
  }
}

function failureOf(error: unknown): PublishAnswer {
  // Blobs reject with these errors when their file was changed, moved or locked after the choice.
  const isUnreadable =
    error instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(error.name);
  if (isUnreadable) return { type: 'failed', code: 'UNREADABLE', message: error.message };
  const { code, message } = asAntwayError(error);
  return { type: 'failed', code: paymentProblemOf(error) ?? code, message };
}
