import { randomUUID } from 'node:crypto';
import { createWriteStream, type Stats } from 'node:fs';
import {
  access,
  chmod,
  chown,
  constants,
  type FileHandle,
  lstat,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AntwayError } from '../errors.ts';
import { syncFolder } from '../node-peer/sync-folder.ts';
import { fileError } from './disk-file.ts';
import { writeOutput } from './write-output.ts';

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface AtomicOptions {
  /** The mode of the file, also if it exists. Default: the present mode, and for a new file what the system gives. */
  mode?: number;
}

/**
 * Writes a file completely or not at all: a hidden file in the same folder replaces the target once it is on disk. The
 * target is the file behind all links, and keeps its mode and its owner. A target that is no regular file, such as a
 * device or a pipe, is never replaced: it gets the bytes as they come.
 * @throws AntwayError as `fileError`, `BAD_CONFIG` if the path is a folder; the errors of `pieces`.
 */
export async function writeAtomically(
  path: string,
  pieces: Pieces,
  { mode }: AtomicOptions = {},
): Promise<void> {
  const wrap = (error: unknown): never => {
    throw fileError(error, path);
  };
  const target = await targetOf(path);
  if (target.kind === 'descriptor') return writeToDescriptor(target.descriptor, pieces, path);
  if (target.kind === 'special') {
    const file = await open(target.path, constants.O_WRONLY).catch(wrap);
    return writeAndClose(file, pieces, path);
  }
  const { path: real, former } = target;
  const temporary = join(dirname(real), `.antway-${randomUUID()}.partial`);
  let isWritten = false;
  try {
    // Others may not read the file before it has its mode.
    const file = await open(temporary, 'wx', mode ?? (former ? 0o600 : 0o666)).catch(wrap);
    await writeAndClose(file, pieces, path, async () => {
      if (former) await takeOver(temporary, former, mode).catch(wrap);
      await file.sync();
    });
    await rename(temporary, real).catch(wrap);
    isWritten = true;
    await syncFolder(dirname(real));
  } finally {
    if (!isWritten) await rm(temporary, { force: true });
  }
}

/**
 * Checks that `writeAtomically` can write a file, before work that cannot be undone.
 * @throws AntwayError `NOT_FOUND` or `REFUSED` for its folder, `BAD_CONFIG` if the path is a folder.
 */
export async function requireWritable(path: string): Promise<void> {
  const target = await targetOf(path);
  if (target.kind === 'descriptor') return;
  const written = target.kind === 'special' ? target.path : dirname(target.path);
  await access(written, constants.W_OK).catch((error) => {
    throw fileError(error, written);
  });
}

type Target =
  /** A regular file, or none yet. */
  | { kind: 'file'; path: string; former: Stats | undefined }
  /** A device, a pipe or a socket. */
  | { kind: 'special'; path: string }
  /** A file that this process has open. The path could name another position in it, or no file at all. */
  | { kind: 'descriptor'; descriptor: number };

/** @throws AntwayError as `fileError`, `BAD_CONFIG` for a folder. */
async function targetOf(path: string): Promise<Target> {
  const real = await behindLinks(path);
  const descriptor = descriptorIn(real);
  if (descriptor !== undefined) return { kind: 'descriptor', descriptor };
  const former = await stat(real).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw fileError(error, path);
  });
  if (former?.isDirectory()) throw new AntwayError('BAD_CONFIG', `“${path}” is a folder.`, { path });
  return former && !former.isFile() ? { kind: 'special', path: real } : { kind: 'file', path: real, former };
}

/** As systems allow. */
const maxLinks = 40;

/** The path that a chain of links leads to. Unlike `realpath`, the last link may lead to a file that does not exist. */
async function behindLinks(path: string): Promise<string> {
  let at = path;
  for (let links = 0; links < maxLinks; links++) {
    if (descriptorIn(at) !== undefined) return at;
    const to = await readlink(at).catch((error: NodeJS.ErrnoException) => {
      // It is no link, or nothing is there. Windows says “unknown”.
      if (['EINVAL', 'ENOENT', 'UNKNOWN'].includes(error.code!)) return undefined;
      throw fileError(error, path);
    });
    if (to === undefined) return at;
    await requireTrustedLink(at, path);
    // Not normalised: “..” after a link to a folder leads to the folder around the other one.
    at = isAbsolute(to) ? to : `${await realpath(dirname(at))}/${to}`;
  }
  throw new AntwayError('REFUSED', `“${path}” leads through more than ${maxLinks} links.`, { path });
}

/**
 * In a folder such as `/tmp`, another user can put a link in the place of a file. Systems that protect users from it look at
 * links that they follow themselves.
 * @throws AntwayError `REFUSED` for a link there that belongs neither to this user nor to the owner of the folder.
 */
async function requireTrustedLink(link: string, path: string): Promise<void> {
  const isShared = (mode: number) => (mode & 0o1002) === 0o1002;
  const wrap = (error: unknown): never => {
    throw fileError(error, path);
  };
  const [folder, { uid }] = await Promise.all([stat(dirname(link)), lstat(link)]).catch(wrap);
  if (!isShared(folder.mode) || uid === folder.uid || uid === process.geteuid?.()) return;
  const message = `“${link}” is a link of another user, in a folder that all users write to.`;
  throw new AntwayError('REFUSED', message, { path });
}

/** The number in a path such as `/dev/fd/1` or `/proc/self/fd/1`, which `/dev/stdout` leads to. */
function descriptorIn(path: string): number | undefined {
  const [, owner = 'self', number] = /^\/(?:proc\/(self|\d+)|dev)\/fd\/(\d{1,9})$/.exec(path) ?? [];
  const isOwn = owner === 'self' || Number(owner) === process.pid;
  return number !== undefined && isOwn ? Number(number) : undefined;
}

async function writeToDescriptor(descriptor: number, pieces: Pieces, path: string): Promise<void> {
  if (descriptor === process.stdout.fd) return writeOutput(pieces);
  const stream = createWriteStream('', { fd: descriptor, autoClose: false });
  await pipeline(pieces, stream).catch((error: NodeJS.ErrnoException) => {
    throw error.syscall === undefined ? error : fileError(error, path);
  });
}

async function writeAndClose(
  file: FileHandle,
  pieces: Pieces,
  path: string,
  complete: () => Promise<void> = async () => undefined,
): Promise<void> {
  try {
    for await (const piece of pieces) {
      await file.writeFile(piece).catch((error) => {
        throw fileError(error, path);
      });
    }
    await complete();
  } finally {
    await file.close();
  }
}

/** Gives a file, or a folder, the owner and the mode of the one that it replaces. */
export async function takeOver(path: string, former: Stats, mode = former.mode): Promise<void> {
  const { uid, gid } = await stat(path);
  const isSame = uid === former.uid && gid === former.gid;
  const isOwned =
    isSame ||
    (await chown(path, former.uid, former.gid).then(
      () => true,
      () => false,
    ));
  // Security: the permissions of the former group are not for this user's group.
  await chmod(path, mode & (isOwned ? 0o777 : 0o707));
}
