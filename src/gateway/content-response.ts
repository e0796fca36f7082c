import type { Archive, Found, Member } from '../content/archive.ts';
import type { ByteSource } from '../content/byte-source.ts';
import { memorySource } from '../content/byte-source.ts';
import type { Content, Resolver } from '../content/resolver.ts';
import { AntwayError } from '../errors.ts';
import { sniffBytes, sniffType, typeOfName } from './content-type.ts';
import { contentDisposition } from './disposition.ts';
import { listingJson, listingPage } from './listing.ts';
import type { Representation } from './representation.ts';
import { contentHeaders, ownPageHeaders } from './security.ts';
import { type ContentTarget, encodePath } from './target.ts';

/** What a content URL leads to: something to send, or another URL. */
export type Answer =
  | { kind: 'representation'; representation: Representation }
  | { kind: 'redirect'; location: string };

/** Changes with the look of generated pages, because their ETags are for ever. */
const listingVersion = 1;

/** What the gateway knows of a request besides its URL. */
export interface ContentContext {
  resolver: Resolver;
  isTrusted: boolean;
  accept: string | null;
  signal: AbortSignal;
}

/**
 * Finds what a content URL stands for.
 * @throws AntwayError `NOT_FOUND` for a missing member, or whatever resolving throws.
 */
export async function answerContent(target: ContentTarget, context: ContentContext): Promise<Answer> {
  const format = target.query.get('format');
  if (format === 'raw') return rawRecord(target, context);
  if (format !== null && format !== 'json') {
    throw new AntwayError('UNSUPPORTED', `There is no format “${format}”; there are raw and json.`, {
      address: target.address.hex,
    });
  }
  const content = await context.resolver.resolve(target.address, context.signal);
  return content.kind === 'archive'
    ? inArchive(target, content.archive, context)
    : wholeFile(target, content, context);
}

/** The record's own bytes, unopened. */
async function rawRecord(target: ContentTarget, context: ContentContext): Promise<Answer> {
  const { bytes } = await context.resolver.record(target.address, context.signal);
  const headers = {
    ...contentHeaders(false),
    ...caching(target),
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': contentDisposition(
      'attachment',
      target.query.get('filename') ?? target.address.hex,
    ),
  };
  return representation({ source: memorySource(bytes), etag: etagOf(target, 'raw'), headers });
}

/** A file that is no archive: what follows its address is only a name for it. */
async function wholeFile(
  target: ContentTarget,
  { source }: Content,
  context: ContentContext,
): Promise<Answer> {
  const name = target.path?.replace(/\/+$/, '').split('/').pop() ?? '';
  return file(target, source, name, etagOf(target, 'file'), context);
}

async function inArchive(target: ContentTarget, archive: Archive, context: ContentContext): Promise<Answer> {
  if (target.path === undefined) return redirect(target, '/');
  const found = archive.find(target.path);
  switch (found.kind) {
    case 'member':
      return member(target, found.member, context);
    case 'redirect':
      return redirect(target, `/${encodePath(found.path)}`);
    case 'folder':
      return listing(target, archive, found, context);
    case 'missing':
      throw new AntwayError('NOT_FOUND', `“${target.path}” is not here: ${found.reason}.`, {
        address: target.address.hex,
        path: target.path,
        reason: found.reason,
      });
  }
}

function member(target: ContentTarget, { path, open }: Member, context: ContentContext): Promise<Answer> {
  return file(target, open(), path.slice(path.lastIndexOf('/') + 1), etagOf(target, 'file', path), context);
}

async function file(
  target: ContentTarget,
  source: ByteSource,
  name: string,
  etag: string,
  { isTrusted, signal }: ContentContext,
): Promise<Answer> {
  const filename = target.query.get('filename') ?? name;
  const type =
    typeOfName(filename) ?? sniffType(await source.read(0, Math.min(sniffBytes, source.size), signal));
  const download = target.query.get('download');
  const isDownload = download !== null && download !== 'false' && download !== '0';
  const headers: Record<string, string> = {
    ...contentHeaders(isTrusted),
    ...caching(target),
    'Content-Type': type,
  };
  if (isDownload || target.query.has('filename')) {
    headers['Content-Disposition'] = contentDisposition(isDownload ? 'attachment' : 'inline', filename);
  }
  return representation({ source, etag, headers });
}

function listing(
  target: ContentTarget,
  archive: Archive,
  { path, entries }: Extract<Found, { kind: 'folder' }>,
  { accept }: ContentContext,
): Answer {
  const isJson = target.query.get('format') === 'json' || prefersJson(accept);
  const title = target.name ?? target.address.hex;
  const body = isJson ? listingJson(entries) : listingPage(archive, path, entries, title);
  const headers = {
    ...ownPageHeaders(),
    ...caching(target),
    'Content-Type': isJson ? 'application/json' : 'text/html; charset=utf-8',
    Vary: 'Accept',
  };
  const etag = etagOf(target, isJson ? `json-${listingVersion}` : `html-${listingVersion}`, path);
  return representation({ source: memorySource(new TextEncoder().encode(body)), etag, headers });
}

function representation(of: Representation): Answer {
  return { kind: 'representation', representation: of };
}

/** @param suffix of the path, encoded; the query stays as it is. */
function redirect(target: ContentTarget, suffix: string): Answer {
  const query = target.query.toString();
  return { kind: 'redirect', location: target.root + suffix + (query && `?${query}`) };
}

/** One per address, format and path: two members, or a page and its JSON, never share one. */
function etagOf({ address }: ContentTarget, format: string, path = ''): string {
  return `"${address.hex}.${format}${path && `:${encodePath(path)}`}"`;
}

/** An address never changes its content; a name may be given to another address tomorrow. */
function caching({ name }: ContentTarget): Record<string, string> {
  return {
    'Cache-Control': name === undefined ? 'public, max-age=31536000, immutable' : 'public, max-age=60',
  };
}

function prefersJson(accept: string | null): boolean {
  const types = (accept ?? '').split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  return types.includes('application/json') && !types.includes('text/html');
}
