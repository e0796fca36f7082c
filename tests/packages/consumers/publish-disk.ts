import { type AntError, createPublisher } from '@antway/publish';
import { type AntFolder, folderSink, openFile, readFolder } from '@antway/publish/node';

export async function run({ folder, chunks }: { folder: string; chunks: string }) {
  const publisher = createPublisher({ sink: await folderSink(chunks) });
  const { entries }: AntFolder = await readFolder(folder);
  const published = await publisher.publish(entries, {
    pointer: { seed: new Uint8Array(32).fill(5), counter: 7n },
  });
  const missing = await openFile('none').catch((error: AntError) => error.code);
  publisher.close();
  return {
    files: entries.length,
    address: published.address,
    chunks: published.chunks,
    pointer: published.pointer?.address,
    missing,
  };
}
