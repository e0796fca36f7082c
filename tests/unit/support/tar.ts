/** Tars made by hand, so that tests can make them wrong. */

export interface HeaderFields {
  name?: string;
  size?: number;
  /** The bytes of the size field, in place of `size` in octal. */
  sizeField?: Uint8Array;
  type?: string;
  prefix?: string;
  magic?: string;
  mtime?: number;
}

const encoder = new TextEncoder();

/** One header block, with a right checksum. */
export function tarHeader({
  name = 'file',
  size = 0,
  sizeField,
  type = '0',
  prefix = '',
  magic = 'ustar\x0000',
  mtime = 0,
}: HeaderFields): Uint8Array {
  const block = new Uint8Array(512);
  const put = (text: string, offset: number) => block.set(encoder.encode(text), offset);
  put(name, 0);
  put('0000644\0', 100);
  put(`${size.toString(8).padStart(11, '0')}\0`, 124);
  if (sizeField) block.set(sizeField, 124);
  put(`${mtime.toString(8).padStart(11, '0')}\0`, 136);
  put('        ', 148);
  put(type, 156);
  put(magic, 257);
  put(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A header with data behind it, filled up to whole blocks. */
export function tarMember(fields: HeaderFields, data: string | Uint8Array = ''): Uint8Array {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data;
  const member = new Uint8Array(512 + Math.ceil(bytes.length / 512) * 512);
  member.set(tarHeader({ size: bytes.length, ...fields }));
  member.set(bytes, 512);
  return member;
}

/** A pax extended header: `x` for the next member, `g` for all that follow. */
export function pax(type: 'x' | 'g', records: Record<string, string>): Uint8Array {
  const data = Object.entries(records).map(([key, value]) => {
    const rest = encoder.encode(` ${key}=${value}\n`).length;
    let length = rest;
    while (String(length).length + rest !== length) length = String(length).length + rest;
    return `${length} ${key}=${value}\n`;
  });
  return tarMember({ name: 'PaxHeader/file', type }, data.join(''));
}

/** Members with the two empty blocks that end a tar. */
export function tar(...members: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat([...members, new Uint8Array(1024)]));
}

/** A tarchive: files in their order, and an index of them. */
export function tarchive(files: Record<string, string>, more = ''): Uint8Array<ArrayBuffer> {
  const members: Uint8Array[] = [];
  let at = 0;
  let index = '';
  for (const [name, data] of Object.entries(files)) {
    const member = tarMember({ name }, data);
    index += `${name} ${at + 512} ${encoder.encode(data).length}\n`;
    members.push(member);
    at += member.length;
  }
  return tar(...members, tarMember({ name: 'archive.tar.idx' }, index + more));
}
