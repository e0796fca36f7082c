import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { filesOf, workerScript } from '../../build/embed-build.ts';
import { AntwayError } from '../errors.ts';
import type { VerifyArguments } from './arguments.ts';
import { plural } from './format.ts';

/** This command is in the project's `dist-cli`. */
const ownBuild = fileURLToPath(new URL('../dist', import.meta.url));
/** How long a host may send nothing, in milliseconds. */
const silenceMs = 30_000;
const maxRedirects = 5;

type Result = 'same' | 'different' | 'missing';

interface Fetched {
  status: number;
  bytes: Buffer;
}

/**
 * `antway verify`: compares the files of a gateway's host with a build on this machine, and prints a line for each
 * file.
 * @throws AntwayError `NOT_FOUND` when there is no build; `HOST_UNREACHABLE`; `BUILD_MISMATCH` when a file differs.
 */
export async function verifyCommand(options: VerifyArguments, signal: AbortSignal): Promise<void> {
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
    for (const name of names) {
      const fetched = await fetchFile(new URL(`/${name}`, options.gateway), expected.length, signal);
      if (path === workerScript) hostBuild = embeddedHash(fetched.bytes);
      results.push(compare(fetched, expected));
    }
    files.push({ path, result: results.find((result) => result !== 'same') ?? 'same' });
  }
  const wrong = files.filter(({ result }) => result !== 'same');
  if (options.json) {
    const report = {
      gateway: options.gateway,
      same: wrong.length === 0,
      build,
      hostBuild: hostBuild ?? null,
      files,
    };
    process.stdout.write(`${JSON.stringify(report)}\n`);
  } else {
    for (const { path, result } of files) process.stdout.write(`${result.padEnd(9)}  ${path}\n`);
    process.stdout.write(`\nBuild here     ${build}\nBuild there    ${hostBuild ?? 'unknown'}\n`);
  }
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

function embeddedHash(script: Buffer): string | undefined {
  return /\{"hash":"([0-9a-f]{64})"/.exec(script.toString())?.[1];
}

function compare({ status, bytes }: Fetched, expected: Buffer): Result {
  if (status === 404 || status === 410) return 'missing';
  return status === 200 && bytes.equals(expected) ? 'same' : 'different';
}

/** @param size the expected size in bytes. Reading stops when the answer is longer. */
async function fetchFile(url: URL, size: number, signal: AbortSignal): Promise<Fetched> {
  try {
    let next = url;
    for (let redirects = 0; ; redirects++) {
      const response = await request(next, signal);
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

function request(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    const headers = { 'Accept-Encoding': 'identity', 'Cache-Control': 'no-cache' };
    get(url, { signal, headers, timeout: silenceMs }, resolve)
      .on('timeout', function (this: { destroy(error: Error): void }) {
        this.destroy(new Error(`nothing came for ${silenceMs / 1000} s`));
      })
      .on('error', reject);
  });
}

async function read(response: IncomingMessage, size: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response) {
    pieces.push(piece);
    length += piece.length;
    if (length > size) break;
  }
  const bytes = Buffer.concat(pieces);
  // Some hosts compress every answer, although the request forbids it.
  switch (response.headers['content-encoding']) {
    case 'gzip':
      return gunzipSync(bytes);
    case 'br':
      return brotliDecompressSync(bytes);
    default:
      return bytes;
  }
}
