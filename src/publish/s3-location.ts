import { AntwayError } from '../errors.ts';
import { isLoopback } from '../peer-url.ts';

export interface S3Settings {
  /** Default: `us-east-1`. */
  region?: string | undefined;
  /** The URL of a store that is not Amazon's. */
  endpoint?: string | undefined;
  /** The name of the bucket is a part of the host: the endpoint has it already. Default: it begins the path. */
  virtualHosted?: boolean | undefined;
  /** Accepts an endpoint without TLS on another machine. */
  allowHttp?: boolean | undefined;
}

/** A bucket of an S3-compatible store, and a prefix in it. */
export interface S3Location {
  /** `s3://bucket/prefix`. */
  readonly name: string;
  readonly region: string;
  /** The URL of an object below the prefix. */
  urlOf(name: string): string;
}

/**
 * Reads `s3://bucket/prefix`, as the peer in Rust does for its upstreams: a chunk is the object `<prefix>/<address>`.
 * @throws AntwayError `BAD_CONFIG`.
 */
export function s3Location(text: string, settings: S3Settings): S3Location {
  const [, bucket, path = ''] = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,62})(\/[^?#]*)?$/.exec(text) ?? [];
  // Security: not with the text, which may have credentials as other URLs have them.
  if (!bucket) throw bad('An object store is s3://bucket/prefix, with nothing else in it.');
  const segments = path.replace(/^\/|\/$/g, '').split('/');
  const prefix = path.length > 1 ? segments.map(decoded) : [];
  const { region = 'us-east-1', endpoint, virtualHosted = false, allowHttp = false } = settings;
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region)) throw bad('The region is a name such as us-east-1.');
  const amazon = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const host = `https://${virtualHosted ? `${bucket}.` : ''}${amazon}`;
  const base = endpointOf(endpoint ?? host, allowHttp) + (virtualHosted ? '' : `/${bucket}`);
  return {
    name: ['s3:/', bucket, ...prefix.map(encodeURIComponent)].join('/'),
    region,
    urlOf: (name) => [base, ...prefix.map(encodeURIComponent), name].join('/'),
  };
}

function decoded(segment: string): string {
  let text = '';
  try {
    text = decodeURIComponent(segment);
  } catch {
    // refused below
  }
  if (!text || /^\.{1,2}$|[/\p{Cc}]/u.test(text)) {
    throw bad(`“${segment.slice(0, 100)}” cannot be a part of the prefix of an object.`);
  }
  return text;
}

/** The endpoint without a slash at its end. */
function endpointOf(text: string, allowHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && (allowHttp || isLoopback(url)));
  if (!url || !isSafe) {
    throw bad('The endpoint of the store must be an https:// URL, or http:// on loopback.');
  }
  // Security: a URL ends up in messages and logs. Credentials have options of their own.
  if (url.username || url.password || url.search || url.hash) {
    throw bad('The endpoint of the store must be a URL without a user name, a query and a fragment.');
  }
  return url.href.replace(/\/+$/, '');
}

function bad(message: string): AntwayError {
  return new AntwayError('BAD_CONFIG', message);
}
