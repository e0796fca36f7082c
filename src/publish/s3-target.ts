import { bytesToHex } from '@noble/hashes/utils.js';
import { AwsClient } from 'aws4fetch';
import type { Address } from '../address.ts';
import { AntwayError, type ErrorCode } from '../errors.ts';
import { limits } from '../limits.ts';
import { ByteReader } from '../peers/transports/byte-reader.ts';
import type { UploadTarget } from '../peers/upload-target.ts';
import { raceAbort, transferMs, Watchdog } from '../util/watchdog.ts';
import type { S3Location } from './s3-location.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/**
 * Stores chunks as objects of an S3-compatible store. A chunk never changes, so it needs no conditional `PUT`, which some
 * stores do not have: two writers write the same bytes.
 */
export class S3Target implements UploadTarget {
  readonly #location: S3Location;
  readonly #credentials: () => Promise<S3Credentials>;
  #signer: { client: AwsClient; of: string } | undefined;

  /** @param credentials called before each request, so that they may expire. */
  constructor(location: S3Location, credentials: () => Promise<S3Credentials>) {
    this.#location = location;
    this.#credentials = credentials;
  }

  get url(): string {
    return this.#location.name;
  }

  /** Whether the store has an object of this address and size. @throws as `HttpTransport.has`. */
  async has(address: Address, signal: AbortSignal, size: number): Promise<boolean> {
    return this.#request(address, 'HEAD', undefined, signal, async ({ ok, status, headers }) => {
      if (mayWorkLater(status)) throw unavailable(`The store answered with HTTP status ${status}.`);
      // Without the right to list a bucket, an absent object is a 403. The answer to `PUT` tells the reason of others.
      return ok && headers.get('Content-Length') === String(size);
    });
  }

  /**
   * @throws AntwayError `REFUSED` (credentials, permissions), `BAD_CONFIG` (no such bucket, another region), `TOO_LARGE` (a full
   *   store), `UNSUPPORTED`; `PEERS_UNREACHABLE` if another try may succeed.
   */
  async put(
    address: Address,
    bytes: Uint8Array,
    { signal }: { signal?: AbortSignal | undefined },
  ): Promise<'stored'> {
    return this.#request(address, 'PUT', bytes, signal, async (response, reader): Promise<'stored'> => {
      if (response.ok) return 'stored';
      throw await refusal(response, reader);
    });
  }

  async #request<T>(
    address: Address,
    method: 'HEAD' | 'PUT',
    body: Uint8Array | undefined,
    signal: AbortSignal | undefined,
    use: (response: Response, reader: ByteReader) => Promise<T>,
  ): Promise<T> {
    const client = await this.#client(signal);
    const stallMs = limits.stallMs + transferMs(body?.length ?? 0);
    const watchdog = new Watchdog({ stallMs, totalMs: 2 * stallMs, signal });
    let reader: ByteReader | undefined;
    try {
      const request = await client.sign(this.#location.urlOf(address.hex), {
        method,
        headers: {
          // The signature covers the bytes, so the store notices damage on the way.
          'X-Amz-Content-Sha256': await sha256(body ?? new Uint8Array()),
          ...(body && { 'Content-Type': 'application/octet-stream' }),
        },
        ...(body && { body: body as Uint8Array<ArrayBuffer> }),
        cache: 'no-store',
        credentials: 'omit',
        // The signature holds for one host only.
        redirect: 'manual',
        referrerPolicy: 'no-referrer',
        signal: watchdog.signal,
      });
      const response = await fetch(request);
      watchdog.touch();
      reader = new ByteReader(response.body ?? new Response('').body!, () => watchdog.touch());
      return await use(response, reader);
    } catch (error) {
      if (watchdog.signal.aborted) throw watchdog.signal.reason;
      if (error instanceof AntwayError) throw error;
      throw unavailable(silence(error), error);
    } finally {
      watchdog.stop();
      void reader?.cancel(); // not awaited: the watchdog has stopped
    }
  }

  /** A client for the present credentials. It stores the keys that it derives from them. @throws AntwayError `REFUSED`. */
  async #client(signal: AbortSignal | undefined): Promise<AwsClient> {
    if (!globalThis.crypto?.subtle) {
      throw new AntwayError('UNSUPPORTED', 'A page can sign requests only if it came over https.');
    }
    const asked = this.#credentials();
    const { accessKeyId, secretAccessKey, sessionToken } = await (signal ? raceAbort(asked, signal) : asked);
    // Security: platforms refuse other characters in a header, with an error that has the whole header.
    if (![accessKeyId, sessionToken ?? ''].every((text) => /^[\x21-\x7e]*$/.test(text))) {
      throw new AntwayError('REFUSED', 'The credentials have characters that no store accepts.');
    }
    const of = JSON.stringify([accessKeyId, secretAccessKey, sessionToken]);
    if (this.#signer?.of !== of) {
      const { region } = this.#location;
      const session = sessionToken ? { sessionToken } : {};
      const client = new AwsClient({ accessKeyId, secretAccessKey, ...session, region, service: 's3' });
      this.#signer = { client, of };
    }
    return this.#signer.client;
  }
}

async function sha256(bytes: Uint8Array): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
}

/** The message of a request without an answer. Node tells the reason in the cause. Browsers do not tell it. */
function silence(error: unknown): string {
  const { message, cause } = Object(error) as Partial<Error>;
  if (cause instanceof Error && cause.message) return `The store does not answer (${cause.message}).`;
  return `The store does not answer, or the CORS rules of the bucket do not allow this page (${message}).`;
}

function mayWorkLater(status: number): boolean {
  return (status >= 500 && status !== 501 && status !== 507) || [408, 409, 425, 429].includes(status);
}

/** Codes of S3 whose status says something else. */
const byCode: Record<string, ErrorCode> = {
  AuthorizationHeaderMalformed: 'BAD_CONFIG',
  InvalidBucketName: 'BAD_CONFIG',
  NoSuchBucket: 'BAD_CONFIG',
  EntityTooLarge: 'TOO_LARGE',
  QuotaExceeded: 'TOO_LARGE',
  // The bytes were damaged or stopped on the way.
  BadDigest: 'PEERS_UNREACHABLE',
  IncompleteBody: 'PEERS_UNREACHABLE',
  RequestTimeout: 'PEERS_UNREACHABLE',
  XAmzContentSHA256Mismatch: 'PEERS_UNREACHABLE',
};

async function refusal(response: Response, reader: ByteReader): Promise<AntwayError> {
  const { status } = response;
  const text = new TextDecoder().decode((await reader.readToEnd(limits.infoBytes)) ?? new Uint8Array());
  const said = (name: string) => new RegExp(`<${name}>([^<]{1,300})</${name}>`).exec(text)?.[1];
  const code = said('Code') ?? '';
  const reason = [code, said('Message')].filter(Boolean).join(': ') || `HTTP status ${status}`;
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return new AntwayError(
      'BAD_CONFIG',
      `The bucket is at another endpoint or in another region (${reason}).`,
    );
  }
  if (mayWorkLater(status)) return unavailable(`The store cannot take it now (${reason}).`);
  const ours = (Object.hasOwn(byCode, code) && byCode[code]) || byStatus(status);
  return new AntwayError(ours, `The store refused it (${reason}).`, { status });
}

function byStatus(status: number): ErrorCode {
  if (status === 404) return 'BAD_CONFIG';
  if (status === 413 || status === 507) return 'TOO_LARGE';
  return status === 501 ? 'UNSUPPORTED' : 'REFUSED';
}

function unavailable(message: string, cause?: unknown): AntwayError {
  return new AntwayError('PEERS_UNREACHABLE', message, {}, { cause });
}
