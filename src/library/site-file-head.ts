import { Address } from '../address.ts';
import { type TarMember, tarMembers } from '../archive/tar-members.ts';
import type { Inventory } from '../content/inventory.ts';
import { AntwayError } from '../errors.ts';
import type { RandomAccess } from '../util/random-access.ts';
import { sanitizeText } from '../util/sanitize-text.ts';

/** The first member of an exported site. */
export const descriptionName = 'antway-site.json';
/** The member with the icon, if there is one, is the second. */
export const iconName = 'icon.png';
const format = 'antway-site';
/** Version 1 has no title, files, size and icon. */
const version = 2;
const mostDescriptionBytes = 64 * 1024;
export const mostIconBytes = 64 * 1024;
/** Most pixels of an icon's side. A small file can describe a huge picture. */
const mostIconSide = 256;
const mostTitleCharacters = 200;
/** Most headers before the second member. */
const mostHeaders = 8;

/** The part of an export that describes its site to the receiver. */
export interface SiteLabel {
  title: string | null;
  /** A PNG as `isIcon` accepts it. */
  icon: Uint8Array | null;
  files: number | null;
  /** Bytes of the decrypted content. */
  size: number | null;
}

/** The description of an exported site. Nothing but the address is verified. Null: unknown. */
export interface SiteDescription extends Omit<SiteLabel, 'icon'> {
  address: Address;
  kind: 'archive' | 'file' | 'record';
  /** The members that contain chunks. */
  chunks: number | null;
  /** Bytes of these members. */
  bytes: number | null;
}

/** @returns the JSON of the first member. */
export function describeSite(
  address: Address,
  stored: { kind: Inventory['kind']; chunks: number; bytes: number },
  { title, files, size }: SiteLabel,
): string {
  const label = { title: title && sanitizeText(title, mostTitleCharacters), files, size };
  const known = Object.fromEntries(Object.entries(label).filter(([, value]) => value !== null));
  return `${JSON.stringify({ format, version, address: address.hex, ...stored, ...known }, undefined, 2)}\n`;
}

/**
 * Parses the first member. A wrong title or number is left out, because the site can be imported without it.
 * @throws AntwayError `UNSUPPORTED` if it is not the description of a site in a known version.
 */
export function parseDescription(name: string, bytes: Uint8Array): SiteDescription {
  if (name !== descriptionName) throw notAnExport(`it does not begin with ${descriptionName}`);
  let description: Record<string, unknown> | null;
  try {
    description = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw notAnExport(`its ${descriptionName} is not JSON`);
  }
  if (description?.format !== format) throw notAnExport(`its ${descriptionName} does not describe a site`);
  if (description.version !== 1 && description.version !== version) {
    throw new AntwayError(
      'UNSUPPORTED',
      `This is an Antway export of another version (${sanitizeText(String(description.version), 20)}). Versions 1 and ${version} can be read.`,
      { isOtherVersion: true },
    );
  }
  const { address, kind, title, files, size, chunks } = description;
  if (typeof address !== 'string' || !Address.isHex(address)) throw notAnExport('it has no address');
  return {
    address: Address.fromHex(address),
    kind: kind === 'file' || kind === 'record' ? kind : 'archive',
    title: (typeof title === 'string' && sanitizeText(title, mostTitleCharacters)) || null,
    files: wholeNumber(files),
    size: wholeNumber(size),
    chunks: wholeNumber(chunks),
    bytes: wholeNumber(description.bytes),
  };
}

function wholeNumber(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];

/** Whether the bytes are a small PNG. Security: other types can contain scripts, or more pixels than memory. */
export function isIcon(bytes: Uint8Array): boolean {
  if (bytes.length < 33 || bytes.length > mostIconBytes) return false;
  if (!pngStart.every((byte, i) => bytes[i] === byte)) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const sides = [view.getUint32(16), view.getUint32(20)];
  return sides.every((side) => side > 0 && side <= mostIconSide);
}

/**
 * Reads what an exported file says of its site, without importing it.
 * @throws AntwayError `UNSUPPORTED` if the file is not an export, or of an unknown version.
 */
export async function readSiteHead(
  file: RandomAccess,
): Promise<SiteDescription & { icon: Uint8Array | null }> {
  const members = tarMembers(file, { maxHeaders: mostHeaders });
  const next = async () => {
    const { value } = await members.next();
    return value ?? null;
  };
  const first = await firstMember(next);
  const description = parseDescription(first.path, await readDescription(file, first));
  // A damaged file is reported by its import.
  const second = await next().catch(() => null);
  const hasIcon = second?.path === iconName && second.size <= mostIconBytes;
  const icon = hasIcon ? await file.read(second.offset, second.offset + second.size) : null;
  return { ...description, icon: icon && isIcon(icon) ? icon : null };
}

/** @throws AntwayError `UNSUPPORTED` if the file is not a tar or is empty. */
export async function firstMember(next: () => Promise<TarMember | null>): Promise<TarMember> {
  const first = await next().catch((cause) => {
    throw notAnExport('it does not begin as one', cause);
  });
  if (!first) throw notAnExport('it is empty');
  return first;
}

/** @throws AntwayError `UNSUPPORTED` if the first member is too long for a description. */
export async function readDescription(
  file: Pick<RandomAccess, 'read'>,
  { offset, size }: TarMember,
): Promise<Uint8Array> {
  if (size > mostDescriptionBytes) throw notAnExport('its description is too long');
  return file.read(offset, offset + size);
}

function notAnExport(why: string, cause?: unknown): AntwayError {
  return new AntwayError('UNSUPPORTED', `This is not an Antway export: ${why}.`, {}, { cause });
}
