import { brotliCompressSync, constants } from 'node:zlib';
import { nodePlatform } from '../../src/cli/platform.ts';
import { Codec } from '../../src/self-encryption/codec.ts';
import { encryptFile } from '../../src/self-encryption/file.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import type { ChunkSink } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';

/** The publisher's quality 6 takes ten times as long for tens of megabytes. Readers cannot tell the difference. */
const codec = new Codec({
  ...nodePlatform,
  brotliEncoder: async () => (bytes) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
});

/** Publishes files as one tarchive. @returns its address. */
export async function publishFiles(files: Files, peer: ChunkSink): Promise<string> {
  const { address } = await encryptFile(codec, bufferAccess(await makeTarchive(files)), {
    emit: ({ address, bytes }) => peer.put(address.hex, bytes),
  });
  return address.hex;
}
