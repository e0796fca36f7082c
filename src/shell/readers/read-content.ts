import { GatewayApiError } from '../gateway-api.ts';
import { contentHref, type ReaderLocation } from './location.ts';

/** The most bytes of a file that the readers of text read. */
const mostTextBytes = 2_000_000;
/** The most bytes of a folder's listing: about 100,000 entries. */
const mostListingBytes = 20_000_000;

export interface FolderFile {
  kind: 'file' | 'folder';
  /** The last segment of its path, without a slash. */
  name: string;
  location: ReaderLocation;
  /** In bytes. 0 for folders, and if the archive does not say. */
  size: number;
  /** Milliseconds since 1970. Null if unknown. */
  modified: number | null;
}

export type ReaderContent =
  | { kind: 'folder'; files: FolderFile[] }
  | {
      kind: 'file';
      /** The media type that the gateway gives the file, with parameters. */
      type: string;
      /** The first `mostTextBytes`. */
      bytes: Uint8Array<ArrayBuffer>;
      /** The size of the whole file in bytes. Null if unknown. */
      size: number | null;
      isCut: boolean;
    };

/** @throws GatewayApiError with the gateway's code. */
export async function readContent(location: ReaderLocation, signal: AbortSignal): Promise<ReaderContent> {
  const isFolder = location.path === '' || location.path?.endsWith('/');
  if (isFolder)
    return (await readFolder(location, signal)) ?? readFile({ ...location, path: undefined }, signal);
  return readFile(location, signal);
}

async function readFile(location: ReaderLocation, signal: AbortSignal): Promise<ReaderContent> {
  const range = `bytes=0-${mostTextBytes - 1}`;
  const response = await fetch(contentHref(location), { headers: { Range: range }, signal });
  const { pathname } = new URL(response.url, globalThis.location?.href);
  if (response.redirected && pathname.endsWith('/')) {
    await response.body?.cancel();
    const path = location.path === undefined ? '' : `${location.path}/`;
    const folder = await readFolder({ ...location, path }, signal);
    if (folder) return folder;
    throw new GatewayApiError('UNSUPPORTED', 'The gateway did not list the folder.');
  }
  const type = response.headers.get('Content-Type') ?? '';
  if (!response.ok) throw await errorOf(response);
  const size = sizeOf(response);
  const bytes = await firstBytes(response, mostTextBytes);
  return {
    kind: 'file',
    type,
    bytes,
    size,
    isCut: size === null ? bytes.length === mostTextBytes : size > bytes.length,
  };
}

/** @returns undefined if the address is a file and not an archive. */
async function readFolder(location: ReaderLocation, signal: AbortSignal): Promise<ReaderContent | undefined> {
  const response = await fetch(contentHref(location, 'format=json'), { signal });
  if (!response.ok) {
    const error = await errorOf(response);
    if (error.code === 'UNSUPPORTED') return undefined;
    throw error;
  }
  if (!response.headers.get('Content-Type')?.startsWith('application/json')) {
    await response.body?.cancel();
    return undefined;
  }
  const bytes = await firstBytes(response, mostListingBytes + 1);
  if (bytes.length > mostListingBytes)
    throw new GatewayApiError('TOO_LARGE', 'The folder has too many files.');
  const files = parseListing(new TextDecoder().decode(bytes), location);
  return files && { kind: 'folder', files };
}

/** Parses the listing of a folder. A plain file in JSON is not a listing. */
export function parseListing(
  json: string,
  { root, path: folder = '' }: ReaderLocation,
): FolderFile[] | undefined {
  let entries: unknown;
  try {
    entries = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!Array.isArray(entries)) return undefined;
  const files: FolderFile[] = [];
  for (const entry of entries) {
    const { path, size, modified, path_type } = (entry ?? {}) as Record<string, unknown>;
    if (typeof path !== 'string' || (path_type !== 'FILE' && path_type !== 'DIRECTORY')) return undefined;
    const kind = path_type === 'FILE' ? 'file' : 'folder';
    const inFolder = path.slice(folder.length).replace(/\/$/, '');
    if (!path.startsWith(folder) || !isName(inFolder)) return undefined;
    const full = folder + inFolder;
    files.push({
      kind,
      name: inFolder,
      location: { root, path: kind === 'folder' ? `${full}/` : full },
      size: typeof size === 'number' ? size : 0,
      modified: typeof modified === 'number' && modified > 0 ? modified * 1000 : null,
    });
  }
  return files;
}

/** A plain file can look like a listing. Its paths must not lead out of the address. */
function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}

function sizeOf({ status, headers }: Response): number | null {
  const total =
    status === 206 ? /\/(\d+)$/.exec(headers.get('Content-Range') ?? '')?.[1] : headers.get('Content-Length');
  return total ? Number(total) : null;
}

async function firstBytes({ body }: Response, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  while (reader && length < most) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value.subarray(0, most - length));
    length += parts.at(-1)!.length;
  }
  await reader?.cancel();
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

async function errorOf(response: Response): Promise<GatewayApiError> {
  const { code, message } = await response.json().catch(() => ({}));
  return new GatewayApiError(
    code ?? 'INTERNAL',
    message ?? `The gateway answered with status ${response.status}.`,
  );
}

/**
 * Decodes text by its byte order mark, else by the charset of its type, else as UTF-8. Invalid bytes become U+FFFD.
 * @param isCut whether the bytes may end within a character.
 */
export function decodeText(bytes: Uint8Array, type: string, isCut = false): string {
  const [first, second] = bytes;
  const label =
    first === 0xff && second === 0xfe
      ? 'utf-16le'
      : first === 0xfe && second === 0xff
        ? 'utf-16be'
        : (/;\s*charset="?([\w.:-]+)/i.exec(type)?.[1] ?? 'utf-8');
  return newDecoder(label).decode(bytes, { stream: isCut });
}

function newDecoder(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** Whether bytes of an unknown type are text: NUL bytes appear only in binary files and in UTF-16. */
export function looksLikeText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, 8_192).includes(0) || (bytes[0]! >= 0xfe && bytes[1]! >= 0xfe);
}
