import { createAntFetch } from '@antway/fetch';
import {
  AntError,
  type AntPublished,
  type AntPublisher,
  type AntPublishProgress,
  createPublisher,
} from '@antway/publish';

interface Platform {
  Worker?: new (...args: unknown[]) => object;
  process?: { getBuiltinModule?(name: string): unknown };
}

/** Counts the workers that start from now on. */
function countWorkers(): () => number {
  let started = 0;
  const platform = globalThis as Platform;
  const threads = platform.process?.getBuiltinModule?.('node:worker_threads') as Platform | undefined;
  for (const place of [platform, threads]) {
    const Own = place?.Worker;
    if (!place || !Own) continue;
    place.Worker = class extends Own {
      constructor(...args: unknown[]) {
        super(...args);
        started++;
      }
    };
  }
  return () => started;
}

/** Publishes in every form that all platforms have, and reads it back. */
export async function run({ peer, token = '' }: { peer: string; token?: string }) {
  const publisher: AntPublisher = createPublisher({ peers: [peer], token });
  const antFetch = createAntFetch({ peers: [peer], store: 'memory' });

  const hello: AntPublished = await publisher.publish(new Blob(['Hello']), { name: 'hello.txt' });
  const text = await (await antFetch(hello.uri)).text();

  async function* files() {
    yield { path: 'folder/b.txt', content: new TextEncoder().encode('in a folder') };
    yield { path: 'a.txt', content: new Blob(['at the top']) };
  }
  const opened = await antFetch.open((await publisher.publish(files())).uri);
  const paths = opened.kind === 'archive' ? opened.entries().map(({ path }) => path) : [];

  const hidden = await publisher.publish(new TextEncoder().encode('for few'), { isPrivate: true });
  const secret = await (await antFetch(hidden.uri)).text();

  const bytes = Uint8Array.from({ length: 9_000_000 }, (_, i) => (i * i) % 251);
  let last: AntPublishProgress | undefined;
  const onProgress = (progress: AntPublishProgress) => {
    last = progress;
  };
  const workers = countWorkers();
  const inParallel = await publisher.publish(bytes, { onProgress });
  const isParallel = workers() > 1;
  const single = createPublisher({ peers: [peer], token, threads: 1 });
  const isSame = (await single.publish(bytes)).address === inParallel.address;
  single.close();
  const { presentChunks: present } = await publisher.publish(bytes.buffer);

  const reason = new Error('no longer needed');
  const isAborted = await publisher.publish(bytes, { signal: AbortSignal.abort(reason) }).then(
    () => false,
    (error: unknown) => error === reason,
  );

  const thrown = await publisher.publish(new Uint8Array(2)).catch((error: unknown) => error);
  const error = thrown instanceof AntError && [thrown.code, thrown.status];
  publisher.close();
  await antFetch.close();
  return {
    text,
    paths,
    secret,
    last: last && {
      encryptedBytes: last.encryptedBytes,
      chunks: last.chunks,
      totalChunks: last.totalChunks,
    },
    present,
    isParallel,
    isSame,
    isAborted,
    error,
  };
}
