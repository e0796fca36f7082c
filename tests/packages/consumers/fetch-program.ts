import {
  type AntArchive,
  type AntAttempt,
  AntError,
  type AntFetch,
  type AntFile,
  type AntProgress,
  createAntFetch,
} from '@antway/fetch';

export interface Asked {
  peer: string;
  /** Addresses: of an archive with `a.txt` and `b.txt`, and of a file of 9,000,000 bytes. */
  site: string;
  film: string;
}

/** Uses every part of the package on any platform. */
export async function run({ peer, site, film }: Asked) {
  const antFetch: AntFetch = createAntFetch({ peers: [peer], names: { home: site }, store: 'memory' });
  const response: Response = await antFetch('ant://home/a.txt', { headers: { Range: 'bytes=0-2' } });
  const range: [number, string] = [response.status, await response.text()];

  const opened: AntFile | AntArchive = await antFetch.open(site);
  if (opened.kind !== 'archive') throw new TypeError('It is no archive.');
  const paths: string[] = opened.entries().map(({ path }) => path);
  const file: AntFile = await opened.get('a.txt');
  const bytes: Uint8Array<ArrayBuffer> = await file.read(1, 4);

  const seen: AntProgress[] = [];
  const long = await antFetch.open(new URL(`ant://${film}/film.mp4`));
  if (long.kind !== 'file') throw new TypeError('It is no file.');
  const stream = long.stream({ start: 4_000_000, onProgress: (progress) => seen.push(progress) });
  const { byteLength } = await new Response(stream).arrayBuffer();

  const reason = new Error('no longer needed');
  const controller = new AbortController();
  const reader = long.stream({ signal: controller.signal }).getReader();
  await reader.read();
  controller.abort(reason);
  const isAborted = await reader.read().then(
    () => false,
    (error: unknown) => error === reason,
  );

  const error: unknown = await antFetch('ab'.repeat(32)).catch((error: unknown) => error);
  if (!(error instanceof AntError)) throw new TypeError('It is no AntError.');
  const attempts: readonly AntAttempt[] = error.attempts;
  // @ts-expect-error: there is no such option
  const mistyped = () => createAntFetch({ peers: [], nmaes: {} });
  await antFetch.close();
  return {
    range,
    paths,
    text: new TextDecoder().decode(bytes),
    byteLength,
    last: seen.at(-1),
    isAborted,
    error: [error.code, error.status, attempts.length],
    mistyped: typeof mistyped,
  };
}
