import { createAntFetch } from '@antway/fetch';
import {
  AntError,
  type AntPublished,
  type AntPublisher,
  type AntPublishProgress,
  createPublisher,
} from '@antway/publish';

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
  await publisher.publish(bytes, { onProgress });
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
    isAborted,
    error,
  };
}
