import type { Address } from '../address.ts';
import { createTarchive } from '../archive/create-tar.ts';
import { finalCounter } from '../content/pointer.ts';
import { publicError } from '../fetch/ant-error.ts';
import { refuseUnknown } from '../fetch/options.ts';
import { encodePath } from '../gateway/http/target.ts';
import { OwnerKey, seedBytes } from '../owner/owner-key.ts';
import { signMembers } from '../owner/sign-members.ts';
import { signState } from '../owner/sign-pointer.ts';
import { privateManifest } from '../publish/private-manifest.ts';
import { type Published, type PublishProgress, publishFile } from '../publish/publish.ts';
import type { ChunkSink } from '../publish/upload.ts';
import { Codec } from '../self-encryption/codec.ts';
import { type EncryptWorkers, smallFileBytes, withEncrypter } from '../self-encryption/encrypter.ts';
import { chunkCount } from '../self-encryption/file.ts';
import { base64Url } from '../util/base64-url.ts';
import type { RandomAccess } from '../util/random-access.ts';
import { raceAbort } from '../util/watchdog.ts';
import { type PreparedPublication, publicationOf } from './content.ts';
import { encryptWorkers } from './encrypt-workers.ts';
import { parseOptions, untilAborted } from './options.ts';
import { publishPlatform } from './platform.ts';
import { storeWhole } from './store-whole.ts';
import type {
  AntPointer,
  AntPointerInit,
  AntPublished,
  AntPublisher,
  AntPublisherOptions,
  AntPublishInit,
  AntPublishInput,
  AntSignInit,
} from './types.ts';

const initKeys = ['name', 'isPrivate', 'pointer', 'sign', 'signal', 'onProgress'];

/**
 * Creates a publisher. It encrypts everything itself: no peer sees plaintext.
 * @throws TypeError for an unknown option or a wrong type, AntError `BAD_CONFIG` for a wrong peer.
 */
export function createPublisher(options: AntPublisherOptions): AntPublisher {
  const closed = new AbortController();
  const { sink, putPointer, threads } = parseOptions(options, closed.signal);
  const codec = new Codec(publishPlatform);
  let workers: Promise<EncryptWorkers> | undefined;
  const workersFor = (size: number) => {
    if (size < smallFileBytes) return undefined;
    workers ??= encryptWorkers(threads);
    return workers;
  };

  async function publish(content: AntPublishInput, init: AntPublishInit = {}): Promise<AntPublished> {
    refuseUnknown('publish', init, initKeys);
    const { isPrivate = false, pointer, onProgress } = init;
    if (pointer) checkPointer(pointer, isPrivate);
    if (init.sign) checkSeed(init.sign.seed, 'signature');
    // Aborted also by an error in the caller's progress function, which is the reason then.
    const own = new AbortController();
    const signal = AbortSignal.any([own.signal, closed.signal, ...(init.signal ? [init.signal] : [])]);
    try {
      signal.throwIfAborted();
      const publication = await publicationOf(content, signal).catch((error) => {
        throw signal.aborted ? signal.reason : new CallersError(error);
      });
      const source = await sourceOf(publication, init.sign, signal);
      const totalChunks = chunkCount(source.size) + (isPrivate ? 0 : 1);
      const progress = (progress: PublishProgress) => {
        try {
          onProgress?.({ ...progress, totalChunks });
        } catch (error) {
          own.abort(error);
        }
      };
      const starting = workersFor(source.size);
      const several = starting && (await raceAbort(starting, signal));
      const encrypt = (sink: ChunkSink, isFinal = true) => {
        const settings = { sink, isPrivate, signal, progress: isFinal ? progress : () => undefined };
        if (!several) return publishFile(source, { ...settings, codec });
        return withEncrypter(codec, source.size, several, (codec) =>
          publishFile(source, { ...settings, codec }),
        );
      };
      let signed: AntPointer | undefined;
      const signOnce = (target: Address) => {
        signed ??= pointer && sign(pointer, target);
        return signed;
      };
      const published =
        'storeAll' in sink ? await storeWhole(sink, encrypt, signOnce, signal) : await encrypt(sink);
      signal.throwIfAborted();
      signOnce(published.address);
      if (signed && putPointer)
        await untilAborted(putPointer(signed.address, signed.record, { signal }), signal);
      return resultOf(publication, published, { name: init.name, isPrivate, pointer: signed });
    } catch (error) {
      throw error instanceof CallersError ? error.error : publicError(error, signal);
    }
  }

  return Object.freeze<AntPublisher>({
    publish,
    close: () => closed.abort(new DOMException('This publisher is closed.', 'AbortError')),
  });
}

/** An error of the content itself, which the caller gets as it is. */
class CallersError {
  constructor(readonly error: unknown) {}
}

function checkPointer({ seed, counter }: AntPointerInit, isPrivate: boolean): void {
  if (isPrivate) throw new TypeError('publish: no pointer can lead to private content.');
  checkSeed(seed, 'pointer');
  if (typeof counter !== 'bigint' || counter < 0n || counter > finalCounter) {
    throw new TypeError('publish: the counter of a pointer must be a bigint of 64 bits.');
  }
}

function checkSeed(seed: unknown, what: string): void {
  if (seed instanceof Uint8Array && seed.length === seedBytes) return;
  throw new TypeError(`publish: the seed of a ${what} must be ${seedBytes} bytes.`);
}

/** @throws TypeError for a signature of a single file. */
async function sourceOf(
  publication: PreparedPublication,
  signer: AntSignInit | undefined,
  signal: AbortSignal,
): Promise<RandomAccess> {
  if (publication.kind === 'archive') {
    const { entries } = publication;
    return createTarchive(
      signer ? await signMembers(entries, new OwnerKey(signer.seed), { signal }) : entries,
    );
  }
  if (signer) throw new CallersError(new TypeError('publish: only the files of an archive can be signed.'));
  return publication.source;
}

function sign({ seed, counter }: AntPointerInit, target: Address): AntPointer {
  const key = new OwnerKey(seed);
  const { record } = signState(key, { kind: 'chunk', target }, counter);
  return Object.freeze({ address: key.address.hex, record });
}

function resultOf(
  publication: PreparedPublication,
  published: Published,
  init: { name: string | undefined; isPrivate: boolean; pointer: AntPointer | undefined },
): AntPublished {
  const { name = publication.name, isPrivate, pointer } = init;
  const address = published.address.hex;
  const manifest = isPrivate ? privateManifest(published, name ?? '') : undefined;
  const path = publication.kind === 'archive' ? '/' : name ? `/${encodePath(name)}` : '';
  const { size, chunks, presentChunks, uploadedBytes } = published;
  return Object.freeze<AntPublished>({
    address,
    uri: manifest ? `ant://manifest/${base64Url(manifest)}` : `ant://${address}${path}`,
    ...{ size, chunks, presentChunks, uploadedBytes, manifest, pointer },
    leftOut: publication.leftOut,
  });
}
