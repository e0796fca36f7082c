import { type Address, shortAddress } from '../../address.ts';
import type { Archive, FolderEntry, Member } from '../../content/archive.ts';
import { type ByteSource, memorySource } from '../../content/byte-source.ts';
import { folderTar } from '../../content/folder-tar.ts';
import type { Content, Resolver } from '../../content/resolver.ts';
import { AntwayError } from '../../errors.ts';
import type { Trace } from '../../stats/trace.ts';
import { appUrlOf } from '../origins/app-url.ts';
import { listingJson, listingPage } from '../pages/listing.ts';
import { missingFrom } from '../pages/missing-file.ts';
import { languageHeaders } from '../pages/page.ts';
import type { Reader } from '../pages/reader.ts';
import { cacheControl, caching, etagOf, type LocatedTarget } from './caching.ts';
import { canRunScripts, isInactiveType, sniffBytes, sniffType, typeOfName } from './content-type.ts';
import { contentDisposition } from './disposition.ts';
import { openEnvelope } from './envelope.ts';
import { ownPageHeaders, type PolicyRequest, policyOf } from './policy.ts';
import { requestedPart } from './range.ts';
import type { Representation } from './representation.ts';
import { type ContentTarget, encodePath, namesMember } from './target.ts';

/** The result for a content URL: a representation, or a redirect to another path. */
export type ContentAnswer =
  | { kind: 'representation'; representation: Representation }
  | { kind: 'redirect'; location: string; status?: 301 | 302; headers: Record<string, string> };

/** Increase this version when the look of generated pages changes, because their ETags are valid forever. */
const listingVersion = 6;

const defaultDocument = 'index.html';
const notFoundDocument = '404.html';

const archiveFormats = new Set(['json', 'tar', 'zip']);

export interface ContentContext {
  resolver: Resolver;
  policyFor(content: Address): PolicyRequest;
  /** Whether the browser will show the response as a document. */
  isNavigation: boolean;
  accept: string | null;
  isHead: boolean;
  range: string | null;
  signal: AbortSignal;
  trace: Trace;
  reader(): Promise<Reader>;
  /** Where the user can report the site to the host. */
  reportUrl(): Promise<string | undefined>;
}

/**
 * Finds the content of a URL.
 * @throws AntwayError `NOT_FOUND` for a missing member, `UNSUPPORTED` for an unknown format, `REFUSED` by the policy,
 *   or the error of resolving.
 */
export async function answerContent(target: ContentTarget, context: ContentContext): Promise<ContentAnswer> {
  // Check the policy before any fetch, because a refusal needs no content.
  contentHeaders(context.policyFor(target.address));
  if (target.query.get('format') === 'raw') return rawRecord(target, context);
  refuseUnknownFormat(target);
  const { resolver, signal, trace } = context;
  const hint = {
    isInside: target.path !== undefined,
    isHead: context.isHead,
    range: context.range ? requestedPart(context.range) : undefined,
  };
  const located = await trace.time('resolveMs', () => resolver.locate(target.address, signal, trace, hint));
  return answerLocated(
    { ...target, content: located.address, isMutable: located.isMutable },
    located.content,
    context,
  );
}

/** @throws AntwayError `UNSUPPORTED` for an unknown format. */
export function refuseUnknownFormat(target: ContentTarget): void {
  const format = target.query.get('format');
  // For a member, the query belongs to the site, which may use “format” with another meaning.
  if (format === null || format === 'raw' || archiveFormats.has(format) || namesMember(target)) return;
  throw new AntwayError(
    'UNSUPPORTED',
    `There is no format “${format}”. The formats are raw, json, tar and zip.`,
  );
}

async function answerLocated(
  target: LocatedTarget,
  content: Content,
  context: ContentContext,
): Promise<ContentAnswer> {
  const format = target.query.get('format');
  if (content.kind === 'archive') {
    if (format === 'tar') return tar(target, content, context);
    if (content.zip && namesZip(target, content.archive)) {
      return file(target, content.zip, target.path || 'archive.zip', etagOf(target, 'file'), context);
    }
    return inArchive(target, content.archive, context);
  }
  // For a single file, the path behind the address is only a name.
  const name = target.path?.replace(/\/+$/, '').split('/').pop() ?? '';
  const envelope =
    content.kind === 'file' && !name.endsWith('.json')
      ? await openEnvelope(content.source, context.signal, context.trace)
      : undefined;
  if (envelope && format === 'json') {
    return file(target, content.source, 'envelope.json', etagOf(target, 'file'), context);
  }
  if (format !== null && archiveFormats.has(format)) {
    throw new AntwayError(
      'UNSUPPORTED',
      `Only archives have the format “${format}”. This content is not an archive.`,
    );
  }
  if (!envelope) return file(target, content.source, name, etagOf(target, 'file'), context);
  const { source, title, extension } = envelope;
  const shownName = name || `${title || 'text'}.${extension}`;
  return file(target, source, shownName, etagOf(target, 'envelope', extension), context);
}

/** The record itself, neither decrypted nor parsed. */
async function rawRecord(
  target: ContentTarget,
  { resolver, signal, trace, policyFor }: ContentContext,
): Promise<ContentAnswer> {
  const { address } = target;
  const { bytes, pointer } = await resolver.locateRecord(address, signal, trace);
  const located = { ...target, content: address, isMutable: pointer !== undefined };
  const state = pointer ? `${pointer.counter}-${pointer.target}` : '';
  const type = 'application/octet-stream';
  return download(located, policyFor(address), memorySource(bytes), 'raw', type, address.hex, state);
}

/** Returns an archive or one of its folders as a tar. If the whole archive is a tar, it is returned unchanged. */
async function tar(
  target: LocatedTarget,
  content: Extract<Content, { kind: 'archive' }>,
  { signal, policyFor }: ContentContext,
): Promise<ContentAnswer> {
  const path = target.path ?? '';
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`;
  const source =
    folder === '' && content.tar ? content.tar : await folderTar(content.archive, folder, signal);
  const name =
    folder.slice(0, -1).split('/').pop() || content.archive.name || target.name || target.address.hex;
  return download(
    target,
    policyFor(target.content),
    source,
    'tar',
    'application/x-tar',
    `${name}.tar`,
    folder,
  );
}

function download(
  target: LocatedTarget,
  policy: PolicyRequest,
  source: ByteSource,
  format: string,
  type: string,
  filename: string,
  path = '',
): ContentAnswer {
  const headers = {
    ...contentHeaders({ ...policy, isTrusted: false }),
    ...caching(target),
    'Content-Type': type,
    'Content-Disposition': contentDisposition('attachment', target.query.get('filename') ?? filename),
  };
  return { kind: 'representation', representation: { source, etag: etagOf(target, format, path), headers } };
}

async function inArchive(
  target: LocatedTarget,
  archive: Archive,
  context: ContentContext,
): Promise<ContentAnswer> {
  if (target.path === undefined) return redirect(target, '/');
  const isFolder = target.path === '' || target.path.endsWith('/');
  const entries = isFolder && wantsJson(target, context) ? archive.folder(target.path) : undefined;
  // This check comes before default documents and routes, because a client that accepts JSON wants the list of files.
  if (entries) return listing(target, archive, target.path, entries, true, context);
  const found = archive.find(target.path);
  switch (found.kind) {
    case 'member':
      return withStatus(await member(target, found.member, context), found.status);
    case 'redirect':
      return redirect(target, `/${encodePath(found.path)}`, found);
    case 'folder':
      return listing(target, archive, found.path, found.entries, false, context);
    case 'missing': {
      const substitute = context.isNavigation ? archive.member(notFoundDocument) : undefined;
      if (substitute) return withStatus(await member(target, substitute, context), 404);
      throw new AntwayError('NOT_FOUND', `“${target.path}” is not here: ${found.reason}.`, {
        path: target.path,
        reason: found.reason,
        // For the error page. Other requests get the details as JSON.
        ...(context.isNavigation && { site: missingFrom(archive, target.path, target.root) }),
      });
    }
  }
}

async function member(
  target: LocatedTarget,
  { path, load }: Member,
  context: ContentContext,
): Promise<ContentAnswer> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return file(target, await load(context.signal), name, etagOf(target, 'file', path), context, true);
}

function withStatus(answer: ContentAnswer, status?: 404): ContentAnswer {
  return answer.kind === 'representation' && status
    ? { ...answer, representation: { ...answer.representation, status } }
    : answer;
}

async function file(
  target: LocatedTarget,
  source: ByteSource,
  name: string,
  etag: string,
  context: ContentContext,
  isMember = false,
): Promise<ContentAnswer> {
  const filename = target.query.get('filename') ?? name;
  const contentType =
    typeOfName(name) ??
    (name === '' ? typeOfQuery(target) : undefined) ??
    (await sniffedType(source, isMember, context));
  const headers: Record<string, string> = {
    ...contentHeaders({ ...context.policyFor(target.content), contentType }),
    ...caching(target),
    'Content-Type': contentType,
  };
  const isDownload = !['false', '0', null].includes(target.query.get('download'));
  if (isDownload || target.query.has('filename')) {
    headers['Content-Disposition'] = contentDisposition(isDownload ? 'attachment' : 'inline', filename);
  }
  return { kind: 'representation', representation: { source, etag, headers } };
}

/** Anyone can write a query, so `?filename=` can only give a nameless file an inactive type. */
function typeOfQuery({ query }: LocatedTarget): string | undefined {
  const type = typeOfName(query.get('filename') ?? '');
  return type && isInactiveType(type) ? type : undefined;
}

/**
 * Sniffs the type of bytes whose name has no known type. A file at its own address may be a document, because the user
 * trusts the address. A member of an archive may be another user's upload, so it never becomes a document.
 */
async function sniffedType(
  source: ByteSource,
  isMember: boolean,
  { signal, trace }: ContentContext,
): Promise<string> {
  const type = sniffType(await source.read(0, Math.min(sniffBytes, source.size), signal, trace));
  return isMember && canRunScripts(type) ? 'text/plain; charset=utf-8' : type;
}

async function listing(
  target: LocatedTarget,
  archive: Archive,
  path: string,
  entries: readonly FolderEntry[],
  isJson: boolean,
  context: ContentContext,
): Promise<ContentAnswer> {
  const title = archive.name ?? target.name ?? shortAddress(target.address.hex);
  const { mode, scope } = context.policyFor(target.content);
  const ownsOrigin = mode !== 'embedded';
  const headers = { ...ownPageHeaders({ ownsOrigin }), ...caching(target) };
  if (isJson) {
    headers['Content-Type'] = 'application/json';
    return ownRepresentation(listingJson(entries), etagOf(target, `json-${listingVersion}`, path), headers);
  }
  const reader = await context.reader();
  const { language } = reader.texts;
  Object.assign(headers, languageHeaders(language), {
    'Content-Type': 'text/html; charset=utf-8',
    Vary: 'Accept, Accept-Language',
  });
  const reportUrl = await context.reportUrl();
  const appUrl = ownsOrigin ? appUrlOf(target, path, scope.origin) : undefined;
  const document = listingPage(archive, path, entries, title, reader, reportUrl, appUrl);
  const report = reportUrl ? `-${encodeURIComponent(reportUrl)}` : '';
  const format = `html-${listingVersion}-${language}${reader.theme ? `-${reader.theme}` : ''}${reader.isFramed ? '-framed' : ''}${report}`;
  return ownRepresentation(document, etagOf(target, format, path), headers);
}

function ownRepresentation(body: string, etag: string, headers: Record<string, string>): ContentAnswer {
  const source = memorySource(new TextEncoder().encode(body));
  return { kind: 'representation', representation: { source, etag, headers, isOwnPage: true } };
}

/** @param path encoded, behind the target's root. The query stays the same, unless a suffix replaces it. */
function redirect(
  target: LocatedTarget,
  path: string,
  { status = 301, suffix = '' }: { status?: 301 | 302; suffix?: string } = {},
): ContentAnswer {
  // Two slashes at the start would make a browser read the path as a host.
  const location = (target.root + path).replace(/^\/+/, '/') + (suffix || target.search);
  return { kind: 'redirect', location, status, headers: { 'Cache-Control': cacheControl(target) } };
}

/** @throws AntwayError `REFUSED`. */
function contentHeaders(request: PolicyRequest): Record<string, string> {
  const policy = policyOf(request);
  if (policy.refusal !== undefined) throw new AntwayError('REFUSED', policy.refusal);
  return policy.headers;
}

/** Types of files that a page does not need as its parts, so a missing one is not a mistake of a site. */
const wholeFileType = /^(application\/(zip|octet-stream|java-archive|vnd\.|x-|[^;]*\+zip)|model\/)/;

/** Browsers ask for this name, which has an unknown extension, on their own. */
const favicon = 'favicon.ico';

/**
 * Whether a URL of a ZIP asks for the ZIP itself: by a query of its root, or by a name with the type of such a file. An
 * extension without a known type, such as `.usdz`, counts unless the ZIP is a site with pages of its own.
 */
function namesZip({ path = '', query }: LocatedTarget, archive: Archive): boolean {
  if (path === '') return query.get('format') === 'zip' || query.has('download') || query.has('filename');
  if (path.includes('/') || archive.find(path).kind !== 'missing') return false;
  const type = typeOfName(path);
  if (type !== undefined) return wholeFileType.test(type);
  const isSite = [defaultDocument, notFoundDocument].some((name) => archive.member(name) !== undefined);
  return !isSite && path !== favicon && /[^.]\.[A-Za-z0-9]{1,10}$/.test(path);
}

function wantsJson({ query }: ContentTarget, { accept }: ContentContext): boolean {
  if (query.has('format')) return query.get('format') === 'json';
  const types = (accept ?? '').split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  return types.includes('application/json') && !types.includes('text/html');
}
