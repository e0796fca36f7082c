import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { AntwayError } from '../errors.ts';
import { HttpTransport } from '../peers/transports/http.ts';
import { type Published, publishFile, publishFolder } from '../publish/publish.ts';
import { uploadTo } from '../publish/upload.ts';
import { Codec } from '../self-encryption/codec.ts';
import type { PublishArguments } from './arguments.ts';
import { chunkFolderSink } from './chunk-folder.ts';
import { fileError, openDiskFile } from './disk-file.ts';
import { type FolderListing, listFolder } from './folder.ts';
import { formatBytes, plural, printable, printableJson } from './format.ts';
import { nodePlatform } from './platform.ts';
import { showProgress } from './progress.ts';

/**
 * `antway publish`: prints the address and the URL on standard output, and everything else on standard error.
 * @throws AntwayError of the folder, the publishing and the peers.
 */
export async function publishCommand(options: PublishArguments, signal: AbortSignal): Promise<void> {
  const { path, out, json } = options;
  const kind = await stat(path).catch((error) => {
    throw fileError(error, path);
  });
  const folder = kind.isDirectory() ? await listFolder(path, options.ignore) : undefined;
  if (folder) reportLeftOut(folder);
  if (folder?.entries.length === 0) {
    throw new AntwayError('UNSUPPORTED', `“${path}” has no files to publish.`, { path });
  }

  const display = showProgress(process.stderr);
  const settings = {
    codec: new Codec(nodePlatform),
    sink:
      out === undefined
        ? uploadTo(
            options.peers.map((peer) => new HttpTransport(peer)),
            options.token === undefined ? {} : { token: options.token },
          )
        : await chunkFolderSink(out),
    progress: display.update,
    signal,
  };
  let published: Published;
  try {
    published = folder
      ? await publishFolder(folder.entries, settings)
      : await publishFile(await openDiskFile(path), settings);
  } finally {
    display.stop();
  }

  const address = published.address.hex;
  // The file name in the URL is not part of the address. It sets the media type and the name of a download.
  const urlPath = `/${address}/${folder ? '' : encodeURIComponent(basename(resolve(path)))}`;
  const gateway = options.gateway ?? (out === undefined ? options.peers[0]?.origin : undefined);
  const url = gateway === undefined ? undefined : gateway + urlPath;
  const { size, chunks, presentChunks, uploadedBytes } = published;
  if (json) {
    const summary = JSON.stringify({
      address,
      ...(url ? { url } : {}),
      size,
      files: folder ? folder.entries.length : 1,
      chunks,
      presentChunks,
      uploadedBytes,
      ...(out === undefined ? { peers: options.peers.map(String) } : { out }),
      leftOut: folder?.leftOut ?? [],
    });
    print(printableJson(summary));
    return;
  }
  const what = folder ? `${plural(folder.entries.length, 'file')}, ${formatBytes(size)}` : formatBytes(size);
  const known = presentChunks ? `, ${presentChunks} of them already there` : '';
  process.stderr.write(
    `Published ${what} as ${plural(chunks, 'chunk')}${known}; ${formatBytes(uploadedBytes)} written to ${printable(out ?? options.peers.join(' and '))}.\n`,
  );
  print(address);
  if (url) print(url);
}

function reportLeftOut({ leftOut }: FolderListing): void {
  for (const { path, why } of leftOut) process.stderr.write(`Left out: ${printable(path)} (${why})\n`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
