import { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { AntError, publicError } from '../fetch/ant-error.ts';
import { refuseUnknown } from '../fetch/options.ts';
import { type S3Location, s3Location } from '../publish/s3-location.ts';
import { S3Target } from '../publish/s3-target.ts';
import { uploadTo } from '../publish/upload.ts';
import type { AntSink } from './types.ts';

export interface AntS3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Of temporary credentials. */
  sessionToken?: string;
}

export interface AntS3Options {
  /** The credentials, or a function that returns them. It is called before each request, so that they may expire. */
  credentials: AntS3Credentials | (() => AntS3Credentials | Promise<AntS3Credentials>);
  /** Default: `us-east-1`. */
  region?: string;
  /** The URL of a store that is not Amazon’s: `https://…`, or `http://` on loopback. */
  endpoint?: string;
  /** The name of the bucket is a part of the endpoint’s host. Default: it begins the path. */
  virtualHosted?: boolean;
  /** Accepts an endpoint without TLS on another machine. */
  allowHttp?: boolean;
}

const settingTypes = { region: 'string', endpoint: 'string', virtualHosted: 'boolean', allowHttp: 'boolean' };

/**
 * Stores chunks in an S3-compatible object store: a chunk is the object `<prefix>/<address>`, where a peer with
 * `--upstream s3://bucket/prefix` finds it. Requests are signed with AWS Signature Version 4. A present object of the right
 * size is not sent again. A request that may succeed later is tried 5 times.
 * @param store `s3://bucket/prefix`. The prefix may be left out.
 * @throws TypeError for an unknown option or a wrong type, AntError `BAD_CONFIG` for a wrong store, region or endpoint.
 */
export function s3Sink(store: string, options: AntS3Options): AntSink {
  refuseUnknown('s3Sink', options, ['credentials', ...Object.keys(settingTypes)]);
  const { credentials, ...settings } = options;
  if (typeof store !== 'string') throw new TypeError('s3Sink: the store must be a text.');
  for (const [key, type] of Object.entries(settingTypes)) {
    const value = settings[key as keyof typeof settings];
    if (value !== undefined && typeof value !== type)
      throw new TypeError(`s3Sink: “${key}” must be a ${type}.`);
  }
  const isFunction = typeof credentials === 'function';
  if (!isFunction) checkCredentials(credentials);
  let location: S3Location;
  try {
    location = s3Location(store, settings);
  } catch (error) {
    if (!(error instanceof AntwayError)) throw error;
    throw new AntError(error.code, error.message, [], { cause: error });
  }
  const current = async () => (isFunction ? called(credentials) : credentials);
  const sink = uploadTo([new S3Target(location, current)]);
  return {
    async put(address, bytes, { signal }) {
      try {
        return await sink.store({ address: Address.fromHex(address), bytes: new Uint8Array(bytes) }, signal);
      } catch (error) {
        throw publicError(error, signal);
      }
    },
  };
}

async function called(
  credentials: () => AntS3Credentials | Promise<AntS3Credentials>,
): Promise<AntS3Credentials> {
  try {
    return checkCredentials(await credentials());
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AntwayError('REFUSED', `There are no credentials: ${why}`, {}, { cause });
  }
}

function checkCredentials(credentials: AntS3Credentials): AntS3Credentials {
  const {
    accessKeyId,
    secretAccessKey,
    sessionToken = '',
  } = Object(credentials) as Partial<AntS3Credentials>;
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  if (!isText(accessKeyId) || !isText(secretAccessKey) || typeof sessionToken !== 'string') {
    throw new TypeError('s3Sink: “credentials” must have the texts accessKeyId and secretAccessKey.');
  }
  return credentials;
}
