import type { ByteSource } from '../../content/byte-source.ts';
import { AntwayError, asAntwayError, type ErrorCode } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Trace } from '../../stats/trace.ts';
import { ifRangeHolds, matchHolds, noneMatchFails } from './conditions.ts';
import { type ByteRange, parseRange } from './range.ts';

/** Something that can be sent: bytes with what a client needs to know of them. */
export interface Representation {
  source: ByteSource;
  /** Strong, with its quotes: no two representations of the gateway share one. */
  etag: string;
  /** Headers of the answer, `Content-Type` and caching among them. */
  headers: Record<string, string>;
  /** 404 for what stands in for something missing: it has no validators and no parts. 200 otherwise. */
  status?: 404;
  /** Whether the gateway made it: then it is no document of the site's, and runs no scripts of anybody's. */
  isOwnPage?: boolean;
}

/** Told what becomes of an answer's body. */
export interface BodyObserver {
  sent(bytes: number): void;
  /** Called before `ended` when nobody wants the rest of the body. */
  left?(reason: unknown): void;
  /** Called once. @param failure the error's code when the body did not come to its end. */
  ended(failure?: ErrorCode): void;
}

/** A request on its way to an answer. */
interface Exchange {
  request: Request;
  signal: AbortSignal;
  observer: BodyObserver;
  trace: Trace;
}

/**
 * Answers a GET or HEAD for a representation: preconditions, a single byte range, exact lengths.
 *
 * Resolves when the first byte is there, so that what fails before it is still answered with a status; what
 * fails after it makes the body fail.
 *
 * @throws AntwayError `BAD_RANGE`, or whatever reading the source throws.
 */
export async function respond(
  representation: Representation,
  request: Request,
  signal: AbortSignal,
  observer: BodyObserver,
  trace: Trace,
): Promise<Response> {
  const exchange = { request, signal, observer, trace };
  const { source, etag } = representation;
  if (representation.status === 404) {
    const headers = new Headers({ ...representation.headers, 'Cache-Control': 'no-store' });
    return send(source, { start: 0, end: source.size }, { status: 404, headers }, exchange);
  }
  const headers = new Headers({ ...representation.headers, ETag: etag, 'Accept-Ranges': 'bytes' });
  if (!matchHolds(request.headers.get('If-Match'), etag)) {
    headers.set('Cache-Control', 'no-store');
    return empty(412, headers, observer);
  }
  if (noneMatchFails(request.headers.get('If-None-Match'), etag)) return empty(304, headers, observer);

  const mayBePartial = request.method === 'GET' && ifRangeHolds(request.headers.get('If-Range'), etag);
  const range = mayBePartial ? parseRange(request.headers.get('Range'), source.size) : undefined;
  if (range === 'unsatisfiable') {
    throw new AntwayError('BAD_RANGE', `This has ${source.size} bytes; the range asked for lies past them.`, {
      size: source.size,
    });
  }
  if (range) headers.set('Content-Range', `bytes ${range.start}-${range.end - 1}/${source.size}`);
  const whole = { start: 0, end: source.size };
  return send(source, range ?? whole, { status: range ? 206 : 200, headers }, exchange);
}

async function send(
  source: ByteSource,
  range: ByteRange,
  { status, headers }: { status: number; headers: Headers },
  exchange: Exchange,
): Promise<Response> {
  headers.set('Content-Length', String(range.end - range.start));
  if (exchange.request.method === 'HEAD' || range.start === range.end)
    return empty(status, headers, exchange.observer);
  return new Response(await body(source, range, exchange), { status, headers });
}

function empty(status: number, headers: Headers, observer: BodyObserver): Response {
  observer.ended();
  return new Response(null, { status, headers });
}

/** Short bodies are sent as one buffer, which costs the browser far less than a stream. */
async function body(
  source: ByteSource,
  { start, end }: ByteRange,
  { signal, observer, trace }: Exchange,
): Promise<BodyInit> {
  if (end - start <= limits.streamPieceBytes) {
    const bytes = await source.read(start, end, signal, trace);
    observer.sent(bytes.length);
    observer.ended();
    return bytes as Uint8Array<ArrayBuffer>;
  }
  const reader = source.stream(start, end, signal, trace).getReader();
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
