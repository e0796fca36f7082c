import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { workerScript } from '../../build/embed-build.ts';
import { compressedSuffixes, filesOf } from '../../build/files-of.ts';
import { AntwayError } from '../errors.ts';
import { plural } from './format.ts';
import { Output, type OutputOptions } from './output.ts';

/** This command is in the project's `dist-cli`. */
const ownBuild = fileURLToPath(new URL('../dist', import.meta.url));
/** How long a host may send nothing, in milliseconds. */
const silenceMs = 30_000;
const maxRedirects = 5;
/** Compression can make a file longer by some bytes. */
const maxCompressionOverhead = 65_536;

type Encoding = 'identity' | 'br' | 'gzip';

type Result = 'same' | 'different' | 'missing';

interface Fetched {
  status: number;
  /** The decoded bytes, or the first of them if there are more than expected. Undefined if they cannot be decoded. */
  bytes: Buffer | undefined;
}

/**
 * Compares the files of a gateway's host with a build on this machine, and prints a line for each
 * file.
 * @throws AntwayError `NOT_FOUND` when there is no build; `HOST_UNREACHABLE`; `BUILD_MISMATCH` when a file differs.
 */
export async function verifyBuild(
  options: OutputOptions & { gateway: string; build?: string },
  signal: AbortSignal,
): Promise<void> {
  const folder = resolve(options.build ?? ownBuild);
  const script = join(folder, workerScript);
  const build = existsSync(script) ? embeddedHash(await readFile(script)) : undefined;
  if (!build) {
    throw new AntwayError(
      'NOT_FOUND',
      `${folder} holds no build of the gateway. Make one with “npm run build”.`,
    );
  }
  const files: { path: string; result: Result }[] = [];
  let hostBuild: string | undefined;
  for (const path of filesOf(folder)) {
    const expected = await readFile(join(folder, path));
    // A first visit loads the start page by the name `/`, and the worker loads it by `/index.html`.
    const names = path === 'index.html' ? ['', path] : [path];
    const results: Result[] = [];
    // Browsers accept compression, so they get the compressed copies.
    for (const encoding of encodingsOf(join(folder, path))) {
      for (const name of names) {
        const url = new URL(`/${name}`, options.gateway);
        const fetched = await fetchFile(url, expected.length, encoding, signal);
        if (path === workerScript && encoding === 'identity') hostBuild = embeddedHash(fetched.bytes);
        results.push(compare(fetched, expected));
      }
    }
    files.push({ path, result: results.find((result) => result !== 'same') ?? 'same' });
  }
  const wrong = files.filter(({ result }) => result !== 'same');
  const output = new Output(options);
  output.json({
    gateway: options.gateway,
    same: wrong.length === 0,
    build,
    hostBuild: hostBuild ?? null,
    files,
  });
  for (const { path, result } of files) output.line(`${result.padEnd(9)}  ${path}`);
  output.line('');
  output.line(`Build here     ${build}`);
  output.line(`Build there    ${hostBuild ?? 'unknown'}`);
  if (wrong.length === 0) return;
  const why =
    hostBuild === build
      ? 'It claims to be the same build.'
      : 'It is another build: compare with a build of the version that it serves.';
  throw new AntwayError(
    'BUILD_MISMATCH',
    `${plural(wrong.length, 'file')} of ${files.length} on ${options.gateway} ${wrong.length === 1 ? 'is' : 'are'} not as in ${folder}. ${why}`,
  );
}

/** The encodings in which a host of this build has the file. */
function encodingsOf(file: string): Encoding[] {
  const encodings: Encoding[] = ['identity'];
  if (existsSync(file + compressedSuffixes.brotli)) encodings.push('br');
  if (existsSync(file + compressedSuffixes.gzip)) encodings.push('gzip');
  return encodings;
}

function embeddedHash(script: Buffer | undefined): string | undefined {
  return /\{"hash":"([0-9a-f]{64})"/.exec(String(script))?.[1];
}

function compare({ status, bytes }: Fetched, expected: Buffer): Result {
  if (status === 404 || status === 410) return 'missing';
  return status === 200 && bytes?.equals(expected) ? 'same' : 'different';
}

/** @param size the expected size in bytes. Reading and decoding stop when the file is longer. */
async function fetchFile(url: URL, size: number, encoding: Encoding, signal: AbortSignal): Promise<Fetched> {
  try {
    let next = url;
    for (let redirects = 0; ; redirects++) {
      const response = await request(next, encoding, signal);
      const { statusCode: status = 0, headers } = response;
      const target =
        status >= 300 && status < 400 && headers.location ? new URL(headers.location, next) : undefined;
      if (target?.origin !== url.origin || redirects === maxRedirects) {
        return { status, bytes: await read(response, size) };
      }
      response.resume();
      next = target;
    }
  } catch (cause) {
    signal.throwIfAborted();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AntwayError('HOST_UNREACHABLE', `${url} could not be fetched: ${why}.`, {}, { cause });
  }
}

function request(url: URL, encoding: Encoding, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    const headers = { 'Accept-Encoding': encoding, 'Cache-Control': 'no-cache' };
    get(url, { signal, headers, timeout: silenceMs }, resolve)
      .on('timeout', function (this: { destroy(error: Error): void }) {
        this.destroy(new Error(`nothing came for ${silenceMs / 1000} s`));
      })
      .on('error', reject);
  });
}

async function read(response: IncomingMessage, size: number): Promise<Buffer | undefined> {
  // Some hosts compress every answer, although the request forbids it.
  const encoding = response.headers['content-encoding']?.toLowerCase();
  const limit = encoding === undefined ? size : size + maxCompressionOverhead;
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response) {
    pieces.push(piece);
    length += piece.length;
    if (length > limit) break;
  }
  const bytes = Buffer.concat(pieces);
  const options = { maxOutputLength: size + 1 };
  try {
    if (encoding === 'gzip') return gunzipSync(bytes, options);
    return encoding === 'br' ? brotliDecompressSync(bytes, options) : bytes;
  } catch {
    return undefined; // not in this encoding, or too long
  }
}
