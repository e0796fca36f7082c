import { crc32, deflateRawSync } from 'node:zlib';

/** A member of a ZIP, and lies about it. */
export interface ZipFile {
  path: string | Buffer;
  data: string | Uint8Array;
  /** 0 (stored), 8 (deflated, the default), or an unknown method. */
  method?: number;
  flags?: number;
  /** The claims of the directory. Default: the truth. */
  size?: number;
  compressedSize?: number;
  offset?: number;
  unixMode?: number;
  /** Name in the local header. */
  localName?: string;
  localExtra?: Buffer;
  zip64?: boolean;
}

export interface ZipOptions {
  comment?: string;
  /** The claims of the last record. Default: the truth. */
  count?: number;
  start?: number;
  zip64?: boolean;
}

/** Writes a ZIP, valid or not. */
export function makeZip(files: readonly ZipFile[], options: ZipOptions = {}): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const file of files) {
    const { local, entry } = member(file, at);
    locals.push(local);
    entries.push(entry);
    at += local.length;
  }
  const directory = Buffer.concat(entries);
  const count = options.count ?? files.length;
  const start = options.start ?? at;
  const comment = Buffer.from(options.comment ?? '');
  const end64 = options.zip64
    ? end64Of(count, directory.length, start, at + directory.length)
    : Buffer.alloc(0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(options.zip64 ? 0xffff : count, 8);
  end.writeUInt16LE(options.zip64 ? 0xffff : count, 10);
  end.writeUInt32LE(options.zip64 ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(options.zip64 ? 0xffffffff : start, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, directory, end64, end, comment]);
}

function member(file: ZipFile, at: number): { local: Buffer; entry: Buffer } {
  const { method = 8, flags = 0x800, localExtra = Buffer.alloc(0) } = file;
  const plain = Buffer.from(file.data as string);
  const data = method === 8 ? deflateRawSync(plain) : plain;
  const name = Buffer.from(file.path as string);
  const localName = file.localName === undefined ? name : Buffer.from(file.localName);
  const size = file.size ?? plain.length;
  const compressedSize = file.compressedSize ?? data.length;
  const offset = file.offset ?? at;
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(flags, 6);
  local.writeUInt16LE(method, 8);
  local.writeUInt32LE(crc32(plain), 14);
  local.writeUInt32LE(data.length, 18);
  local.writeUInt32LE(plain.length, 22);
  local.writeUInt16LE(localName.length, 26);
  local.writeUInt16LE(localExtra.length, 28);
  const extra = file.zip64 ? zip64Extra(size, compressedSize, offset) : Buffer.alloc(0);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt8(file.unixMode === undefined ? 0 : 3, 5);
  entry.writeUInt16LE(flags, 8);
  entry.writeUInt16LE(method, 10);
  entry.writeUInt16LE((12 << 11) | (34 << 5) | 28, 12);
  entry.writeUInt16LE((44 << 9) | (3 << 5) | 15, 14);
  entry.writeUInt32LE(crc32(plain), 16);
  entry.writeUInt32LE(file.zip64 ? 0xffffffff : compressedSize, 20);
  entry.writeUInt32LE(file.zip64 ? 0xffffffff : size, 24);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt16LE(extra.length, 30);
  entry.writeUInt16LE(file.unixMode ?? 0, 40);
  entry.writeUInt32LE(file.zip64 ? 0xffffffff : offset, 42);
  return {
    local: Buffer.concat([local, localName, localExtra, data]),
    entry: Buffer.concat([entry, name, extra]),
  };
}

function zip64Extra(...values: number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [i, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * i);
  return extra;
}

function end64Of(count: number, size: number, start: number, at: number): Buffer {
  const end = Buffer.alloc(76);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(start), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(at), 64);
  end.writeUInt32LE(1, 72);
  return end;
}
