import { s3Location } from '../publish/s3-location.ts';
import { S3Target } from '../publish/s3-target.ts';
import { UsageError } from './usage-error.ts';

export function isObjectStore(text: string): boolean {
  return /^s3:/i.test(text);
}

/**
 * An S3-compatible store, with the credentials and settings that the peer in Rust and the tools of AWS read from the
 * environment.
 * @throws UsageError without credentials; AntwayError `BAD_CONFIG`.
 */
export function objectStoreAt(text: string, env: NodeJS.ProcessEnv): S3Target {
  const first = (...names: string[]) => names.map((name) => env[name]).find(Boolean);
  const location = s3Location(text, {
    region: first('AWS_REGION', 'AWS_DEFAULT_REGION'),
    endpoint: first('AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT'),
    virtualHosted: isOn(env.AWS_VIRTUAL_HOSTED_STYLE_REQUEST),
    allowHttp: isOn(env.AWS_ALLOW_HTTP),
  });
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) {
    throw new UsageError(`${location.name} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`);
  }
  const credentials = { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN };
  return new S3Target(location, async () => credentials);
}

function isOn(value: string | undefined): boolean {
  return /^(1|true|yes|on)$/i.test(value ?? '');
}
