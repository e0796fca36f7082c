// Streams a file of the network to a pipe: node stream.mjs <address>[/path] > file
// Every byte is verified before it is written, and the whole file is never in memory.
import process from 'node:process';
import { Writable } from 'node:stream';
import { AntError, createAntFetch } from '@antway/fetch';

const [content] = process.argv.slice(2);
if (!content) {
  console.error('Use: node stream.mjs <address>[/path]');
  process.exit(2);
}

const antFetch = createAntFetch({ peers: [process.env.ANTWAY_PEER ?? 'http://127.0.0.1:8080'] });
// Ctrl-C ends the download.
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());

try {
  const [address, ...path] = content.replace(/^ant:\/\//, '').split('/');
  const opened = await antFetch.open(`ant://${address}`);
  const file = opened.kind === 'archive' ? await opened.get(path.join('/') || 'index.html') : opened;
  const onProgress = ({ loaded, total }) => console.error(`${loaded} of ${total} bytes`);
  const stream = file.stream({ signal: interrupted.signal, onProgress });
  await stream.pipeTo(Writable.toWeb(process.stdout));
} catch (error) {
  if (!(error instanceof AntError)) throw error;
  console.error(`${error.message} (${error.code})`);
  process.exitCode = 1;
} finally {
  await antFetch.close();
}
