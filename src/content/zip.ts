import {
  isLocalHeader,
  localHeaderBytes,
  readZipDirectory,
  type ZipMember,
} from '../archive/zip-directory.ts';
import { AntwayError } from '../errors.ts';
import { SingleFlight } from '../util/single-flight.ts';
import { Archive } from './archive.ts';
import { type ByteSource, slice } from './byte-source.ts';
import { inflated } from './inflated.ts';

/** Members by which documents of other formats are known: Office, OpenDocument and EPUB, Java and Android. */
const documentMembers = new Set(['[Content_Types].xml', 'mimetype', 'META-INF/MANIFEST.MF']);

/**
 * Opens a ZIP as an archive.
 * @returns undefined if the ZIP is a document of another format, or its directory cannot be read. It is a file then.
 */
export async function loadZip(zip: ByteSource, signal?: AbortSignal): Promise<Archive | undefined> {
  try {
    const { members, refused, start } = await readZipDirectory(zip, signal);
    if (members.some(({ path }) => documentMembers.has(path))) return undefined;
    const loading = new SingleFlight<ByteSource>();
    const list = members.map((member) => {
      let loaded: ByteSource | undefined;
      return {
        path: member.path,
        size: member.size,
        modified: member.modified,
        load: async (opening?: AbortSignal) => {
          loaded ??= await loading.run(member.path, opening, (shared) =>
            loadMember(zip, member, start, shared),
          );
          return loaded;
        },
      };
    });
    return await Archive.load(list, { refused }, signal);
  } catch (error) {
    const isOfZip =
      error instanceof AntwayError && ['CORRUPT', 'UNSUPPORTED', 'TOO_LARGE'].includes(error.code);
    if (isOfZip && !error.details.address) return undefined;
    throw error;
  }
}

/** @throws AntwayError `UNSUPPORTED` for encryption and unknown methods, `CORRUPT` if the local header differs. */
async function loadMember(
  zip: ByteSource,
  { path, name, method, isEncrypted, size, compressedSize, headerOffset }: ZipMember,
  membersEnd: number,
  signal?: AbortSignal,
): Promise<ByteSource> {
  if (isEncrypted)
    throw new AntwayError('UNSUPPORTED', `“${path}” is encrypted in its ZIP with a password.`, { path });
  if (method !== 0 && method !== 8) {
    throw new AntwayError(
      'UNSUPPORTED',
      `“${path}” is compressed by method ${method}; only deflate can be read.`,
      { path, method },
    );
  }
  const nameStart = headerOffset + localHeaderBytes;
  const bytes = await zip.read(headerOffset, nameStart + name.length, signal);
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = nameStart + header.getUint16(26, true) + header.getUint16(28, true);
  const isSame =
    isLocalHeader(header) &&
    header.getUint16(8, true) === method &&
    header.getUint16(26, true) === name.length &&
    name.every((byte, i) => byte === bytes[localHeaderBytes + i]);
  if (!isSame || start + compressedSize > membersEnd) {
    throw new AntwayError('CORRUPT', `“${path}” differs from what the directory of its ZIP says.`, { path });
  }
  const data = slice(zip, start, compressedSize);
  return method === 0 ? data : inflated(data, size, path);
}
