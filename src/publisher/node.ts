import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Address } from '../address.ts';
import { writeAtomically } from '../cli/atomic-file.ts';
import { chunkFolderSink } from '../cli/chunk-folder.ts';
import { fileError, openDiskFile } from '../cli/disk-file.ts';
import { withFileLock } from '../cli/file-lock.ts';
import { listFolder } from '../cli/folder.ts';
import { openJournal } from '../cli/payment-files.ts';
import { publicError } from '../fetch/ant-error.ts';
import type { AntInputFile, AntJournal, AntSink, AntSource } from './types.ts';

const never = new AbortController().signal;

/**
 * Stores chunks in a folder: a file per chunk, named by its address, as `antway publish --out` does. Pointers are in its
 * folder `pointers`. Creates the folder if necessary.
 * @throws AntError `REFUSED` (permissions), `TOO_LARGE` (no space), `INTERNAL`.
 */
export async function folderSink(path: string): Promise<Required<AntSink>> {
  const pointers = join(path, 'pointers');
  const sink = await publicly(chunkFolderSink(path));
  return {
    put: (address, bytes, { signal }) =>
      publicly(sink.store({ address: Address.fromHex(address), bytes: new Uint8Array(bytes) }, signal)),
    putPointer: (address, record) =>
      publicly(
        (async () => {
          await mkdir(pointers, { recursive: true }).catch((error) => {
            throw fileError(error, pointers);
          });
          await writeAtomically(join(pointers, Address.fromHex(address).hex), [record]);
        })(),
      ),
  };
}

/**
 * A journal of payments for `networkSink`: a folder for each chain, as `antway publish --network --journal` has it. Only one
 * process at a time pays. The others get AntError `REFUSED`.
 */
export function folderJournal(path: string): AntJournal {
  return {
    open: (chain) => openJournal(join(path, chain)),
    async lock(chain, work) {
      await mkdir(path, { recursive: true, mode: 0o700 }).catch((error) => {
        throw fileError(error, path);
      });
      return withFileLock(join(path, chain), work);
    },
  };
}

export interface AntFolder {
  /** For `publish`. */
  entries: AntInputFile[];
  /** Parts of the folder that are not among the entries. A path that ends in `/` stands for all files of that folder. */
  leftOut: { path: string; why: string }[];
}

/**
 * Lists all files of a folder on the disk, without their content. It follows links whose targets are inside the folder.
 * @throws AntError `NOT_FOUND`, `REFUSED` (permissions, a link out of the folder), `INTERNAL`.
 */
export async function readFolder(path: string): Promise<AntFolder> {
  const { entries, leftOut } = await publicly(listFolder(path, []));
  return { entries: entries.map(({ path, source }) => ({ path, content: source })), leftOut };
}

/**
 * Opens a file on the disk for `publish`. A read fails with `CORRUPT` if the file was changed since then.
 * @throws AntError `NOT_FOUND`, `REFUSED` (permissions), `INTERNAL`.
 */
export function openFile(path: string): Promise<AntSource> {
  return publicly(openDiskFile(path));
}

async function publicly<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw publicError(error, never);
  }
}
