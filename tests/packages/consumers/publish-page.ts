import { createPublisher } from '@antway/publish';
import { run } from './publish-program.js';

/** Everything of the program, then a folder of the browser. */
export async function publishAll(peer: string, token: string) {
  const results = await run({ peer, token });
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle('site', { create: true });
  const write = async (directory: FileSystemDirectoryHandle, name: string, text: string) => {
    const handle = await directory.getFileHandle(name, { create: true });
    const writable = await handle.createWritable();
    await writable.write(text);
    await writable.close();
    return handle;
  };
  await write(folder, 'index.html', '<!doctype html><title>Site</title>');
  await write(folder, '.DS_Store', 'x');
  await write(await folder.getDirectoryHandle('sub', { create: true }), 'c.txt', 'c');
  const handle = await write(root, 'single.txt', 'a single file');
  const publisher = createPublisher({ peers: [peer], token });
  const site = await publisher.publish(folder);
  const single = await publisher.publish(handle);
  publisher.close();
  return { ...results, site: site.address, leftOut: site.leftOut, single: single.uri.split('/').at(-1) };
}
