import { type AntError, type AntSink, createPublisher } from '@antway/publish';
import { type AntS3Options, s3Sink } from '@antway/publish/s3';

/** Stores a file in a bucket, once with the right credentials and once with others. */
export async function publishToStore(store: string, options: AntS3Options) {
  const sink: AntSink = s3Sink(store, options);
  const publisher = createPublisher({ sink });
  const file = new File(['stored as objects'], 'object.txt');
  const { address, chunks } = await publisher.publish(file);
  const again = await publisher.publish(file);
  publisher.close();
  const credentials = { accessKeyId: 'nobody', secretAccessKey: 'nothing' };
  const others = createPublisher({ sink: s3Sink(store, { ...options, credentials }) });
  const code = await others.publish(file).catch((error: AntError) => error.code);
  others.close();
  return { address, chunks, present: again.presentChunks, code };
}

/** Returns the error that a page gets of a bucket without rules for it. */
export async function publishWithoutRules(store: string, options: AntS3Options) {
  const publisher = createPublisher({ sink: s3Sink(store, options) });
  const error = await publisher.publish(new Blob(['text'])).catch((error: AntError) => error);
  publisher.close();
  return error instanceof Error ? [error.code, error.message] : [];
}
