import { lookup } from 'mrmime';

export const sniffBytes = 1024;

/** Types that the table of `mrmime` does not have, or has under an older name. */
const ownTypes = new Map(
  Object.entries({
    js: 'text/javascript',
    mjs: 'text/javascript',
    md: 'text/markdown',
    opus: 'audio/ogg',
    flac: 'audio/flac',
    m4a: 'audio/mp4',
    mkv: 'video/x-matroska',
    ant: 'application/vnd.autonomi.manifest',
  }),
);

/** @returns undefined if the name has no extension, or an unknown extension. */
export function typeOfName(name: string): string | undefined {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase();
  const type = extension && (ownTypes.get(extension) ?? lookup(extension));
  // Check for a string: the table is an object, so the name “x.constructor” finds a function.
  return typeof type === 'string' && type !== '' ? withCharset(type) : undefined;
}

/** Types of documents that can run scripts: HTML, every kind of XML, and messages, which can contain HTML. */
const scriptable = /^(text\/html|multipart\/|message\/|[^;]*[/+](xml|xslt?)\b)/;

export function canRunScripts(contentType: string): boolean {
  return scriptable.test(contentType);
}

const shown = /^((image|audio|video)\/|text\/(?!csv)|application\/(pdf|json|javascript|manifest\+json)\b)/;

/** Whether browsers save a file of this type instead of showing it. */
export function isSavedType(contentType: string): boolean {
  return !shown.test(contentType) && !canRunScripts(contentType);
}

const shownEverywhere =
  /^(text\/(plain|css|javascript)|application\/json|image\/(png|jpeg|gif|webp|avif)|audio\/(mpeg|ogg|wav)|video\/(mp4|webm))\b/;

/** Whether each browser shows a file of this type in a window. Browsers save many other types of texts, images and media. */
export function isShownEverywhere(contentType: string): boolean {
  return shownEverywhere.test(contentType) || canRunScripts(contentType);
}

const inactive =
  /^((image|audio|video|font)\/|text\/(plain|csv|markdown)\b|application\/(pdf|json|zip|gzip|octet-stream)\b)/;

/** Whether a file of this type cannot change a document, page or worker: it is not a script, style or document. */
export function isInactiveType(contentType: string): boolean {
  return inactive.test(contentType) && !canRunScripts(contentType);
}

/** Adds the charset. Text formats are UTF-8 here, and browsers guess if there is no charset. */
function withCharset(type: string): string {
  const isText =
    type.startsWith('text/') ||
    /^(application\/(json|xml|manifest\+json|.+\+(json|xml))|image\/svg\+xml)$/.test(type);
  return isText ? `${type}; charset=utf-8` : type;
}

/** In `bytes` a dot matches any byte. */
type Signature = readonly [offset: number, bytes: string, type: string];

/** Signatures at the start of files, from the WHATWG MIME Sniffing Standard, in Latin-1. */
const signatures: readonly Signature[] = [
  [0, '%PDF-', 'application/pdf'],
  [0, '\x89PNG\r\n\x1a\n', 'image/png'],
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, 'GIF87a', 'image/gif'],
  [0, 'GIF89a', 'image/gif'],
  [0, 'RIFF....WEBP', 'image/webp'],
  [0, 'BM', 'image/bmp'],
  [0, '\0\0\x01\0', 'image/x-icon'],
  [4, 'ftypavif', 'image/avif'],
  [4, 'ftypheic', 'image/heic'],
  [4, 'ftypM4A', 'audio/mp4'],
  [4, 'ftyp', 'video/mp4'],
  [0, '\x1aE\xdf\xa3', 'video/webm'],
  [0, 'OggS', 'audio/ogg'],
  [0, 'ID3', 'audio/mpeg'],
  [0, '\xff\xfb', 'audio/mpeg'],
  [0, 'fLaC', 'audio/flac'],
  [0, 'RIFF....WAVE', 'audio/wav'],
  [0, 'RIFF....AVI ', 'video/x-msvideo'],
  [0, 'MThd', 'audio/midi'],
  [0, 'wOF2', 'font/woff2'],
  [0, 'wOFF', 'font/woff'],
  [0, 'OTTO', 'font/otf'],
  [0, '\0\x01\0\0', 'font/ttf'],
  [0, 'PK\x03\x04', 'application/zip'],
  [0, '\x1f\x8b\x08', 'application/gzip'],
  [0, '7z\xbc\xaf\x27\x1c', 'application/x-7z-compressed'],
  [257, 'ustar', 'application/x-tar'],
  [0, '\0asm', 'application/wasm'],
  [0, '\xc1ANT\x01', 'application/vnd.autonomi.manifest'],
];

/** @param start the first `sniffBytes` bytes, or all bytes if there are fewer. */
export function sniffType(start: Uint8Array): string {
  const latin1 = String.fromCharCode(...start.subarray(0, sniffBytes));
  const signature = signatures.find(([offset, bytes]) =>
    [...bytes].every((byte, i) => byte === '.' || byte === latin1[offset + i]),
  );
  if (signature) return signature[2];
  const text = decodeText(start);
  if (text === undefined) return 'application/octet-stream';
  const head = text.trimStart().toLowerCase();
  if (/^(<!doctype html|<html|<head|<body|<title|<h1|<!--)/.test(head)) return 'text/html; charset=utf-8';
  if (/^(<\?xml[^>]*>\s*)?(<!doctype svg[^>]*>\s*)?<svg[\s>]/.test(head))
    return 'image/svg+xml; charset=utf-8';
  if (head.startsWith('<?xml')) return 'application/xml; charset=utf-8';
  return 'text/plain; charset=utf-8';
}

/** @returns undefined unless the bytes are UTF-8 text without binary control characters. */
function decodeText(start: Uint8Array): string | undefined {
  try {
    // Decode as a stream, because the last character may be incomplete.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters identify binary data
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
