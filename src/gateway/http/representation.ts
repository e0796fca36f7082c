import type { ByteSource } from '../../content/byte-source.ts';
import { AntwayError, asAntwayError, type ErrorCode } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Trace } from '../../stats/trace.ts';
import { type LinkRewriter, rewriteStream } from '../links/link-rewriter.ts';
import { ifRangeHolds, matchHolds, noneMatchFails } from './conditions.ts';
import { isSavedType, isShownEverywhere } from './content-type.ts';
import { type ByteRange, parseRange } from './range.ts';

export interface Representation {
  source: ByteSource;
  /** A strong ETag with its quotes, unique in the gateway. */
  etag: string;
  headers: Record<string, string>;
  /** 404 for a substitute of a missing file, which has no validators and no ranges. Default: 200. */
  status?: 404;
  /** Whether the gateway generated it. Such a page runs no scripts of the site. */
  isOwnPage?: boolean;
  /** Whether links were rewritten. Ranges are those of the original, so this representation offers none. */
  isRewritten?: boolean;
  /** Rewrites the links while `source` streams, so the length is not known before the end. */
  rewriter?: () => LinkRewriter;
}

/** Whether the browser saves it instead of showing it. */
export function isDownload({ headers }: Representation): boolean {
  return isSavedType(headers['Content-Type'] ?? '') || isAttachment({ headers });
}

/** Whether any browser may save it instead of showing it. */
export function mayBeSaved({ headers }: Representation): boolean {
  return !isShownEverywhere(headers['Content-Type'] ?? '') || isAttachment({ headers });
}

export function isAttachment({ headers }: Pick<Representation, 'headers'>): boolean {
  return headers['Content-Disposition']?.startsWith('attachment') === true;
}

export interface BodyObserver {
  sent(bytes: number): void;
  /** Called before `ended` if the client does not want the rest of the body. */
  left?(reason: unknown): void;
  /** Called once. @param failure the error code if the body is incomplete because of an error. */
  ended(failure?: ErrorCode): void;
}

interface Exchange {
  request: Request;
  signal: AbortSignal;
  observer: BodyObserver;
  trace: Trace;
}

/**
 * Responds to a GET or HEAD request, with preconditions, a single byte range and exact lengths. Resolves when the first
 * byte is available, so an earlier error still becomes a response with a status. A later error makes the body fail.
 * @throws AntwayError `BAD_RANGE`, or the error of reading the source.
 */
export async function respond(
  representation: Representation,
  request: Request,
  signal: AbortSignal,
  observer: BodyObserver,
  trace: Trace,
): Promise<Response> {
  const exchange = { request, signal, observer, trace };
  const { source, etag, isRewritten } = representation;
  const whole = { start: 0, end: source.size };
  if (representation.status === 404) {
    const headers = new Headers({ ...representation.headers, 'Cache-Control': 'no-store' });
    return send(representation, whole, { status: 404, headers }, exchange);
  }
  const ranges = isRewritten ? 'none' : 'bytes';
  const headers = new Headers({ ...representation.headers, ETag: etag, 'Accept-Ranges': ranges });
  if (!matchHolds(request.headers.get('If-Match'), etag)) {
    headers.set('Cache-Control', 'no-store');
    return empty(412, headers, observer);
  }
  if (noneMatchFails(request.headers.get('If-None-Match'), etag)) return empty(304, headers, observer);

  const mayBePartial =
    !isRewritten && request.method === 'GET' && ifRangeHolds(request.headers.get('If-Range'), etag);
  const range = mayBePartial ? parseRange(request.headers.get('Range'), source.size) : undefined;
  if (range === 'unsatisfiable') {
    throw new AntwayError(
      'BAD_RANGE',
      `The content has ${source.size} bytes. The requested range lies past its end.`,
      { size: source.size },
    );
  }
  if (range) headers.set('Content-Range', `bytes ${range.start}-${range.end - 1}/${source.size}`);
  return send(representation, range ?? whole, { status: range ? 206 : 200, headers }, exchange);
}

async function send(
  { source, rewriter }: Representation,
  range: ByteRange,
  { status, headers }: { status: number; headers: Headers },
  exchange: Exchange,
): Promise<Response> {
  if (!rewriter) headers.set('Content-Length', String(range.end - range.start));
  if (exchange.request.method === 'HEAD' || range.start === range.end)
    return empty(status, headers, exchange.observer);
  return new Response(await body(source, range, exchange, rewriter?.()), { status, headers });
}

function empty(status: number, headers: Headers, observer: BodyObserver): Response {
  observer.ended();
  return new Response(null, { status, headers });
}

/** A short body is one buffer, which costs the browser far less than a stream. */
async function body(
  source: ByteSource,
  { start, end }: ByteRange,
  { signal, observer, trace }: Exchange,
  rewriter?: LinkRewriter,
): Promise<BodyInit> {
  if (!rewriter && end - start <= limits.streamPieceBytes) {
    const bytes = await source.read(start, end, signal, trace);
    observer.sent(bytes.length);
    observer.ended();
    return bytes as Uint8Array<ArrayBuffer>;
  }
  const original = source.stream(start, end, signal, trace);
  const reader = (rewriter ? rewriteStream(original, rewriter) : original).getReader();
  let first: ReadableStreamReadResult<Uint8Array> | undefined = await reader.read();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = first ?? (await reader.read());
          first = undefined;
          if (done) {
            observer.ended();
            controller.close();
            return;
          }
          observer.sent(value.length);
          controller.enqueue(value);
        } catch (error) {
          observer.ended(signal.aborted ? undefined : asAntwayError(error).code);
          throw error;
        }
      },
      cancel(reason) {
        observer.left?.(reason);
        observer.ended();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
