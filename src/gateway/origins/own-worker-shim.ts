import { type ByteSource, memorySource, slice } from '../../content/byte-source.ts';
import type { Trace } from '../../stats/trace.ts';
import { htmlTokens } from '../http/html-tokens.ts';
import type { Representation } from '../http/representation.ts';
import { cookieShim } from './cookie-shim.ts';
import { fetchShim } from './fetch-shim.ts';
import { viewShim } from './view-shim.ts';

/**
 * On a site's own origin the gateway's worker has the scope `/`, and the site's scripts would mistake it for their own
 * worker. A site with its own worker would find a controller, could not register its worker, and might unregister the
 * gateway's worker. Therefore each HTML document on such an origin begins with this script. It makes
 * `navigator.serviceWorker` look as in a browser that refuses workers: no controller, no registrations, no events, and
 * `register()` rejects with a reason. The shim is not a protection: a script can get the browser's own functions, for
 * example through a frame, and harm the worker of its own origin. docs/reference/third-party-sites.md describes it. The
 * script is one line, so that the line numbers of the document do not change. It is ASCII, so that only UTF-16 has other
 * bytes for it.
 */
export const shimScript = `(()=>{
document.currentScript.remove();${cookieShim}${fetchShim}${viewShim}
const container=navigator.serviceWorker;
if(!container)return;
const refusal='Antway: this site\\'s own service worker is not registered. Antway\\'s worker serves this origin, also offline. See "Sites with a service worker of their own" in docs/reference/third-party-sites.md.';
const never=new Promise(()=>{});
const methods={
async register(url){console.warn(refusal,String(url));throw new DOMException(refusal,'NotSupportedError')},
async getRegistration(){},
async getRegistrations(){return[]},
startMessages(){}
};
for(const name in methods)Object.defineProperty(ServiceWorkerContainer.prototype,name,{value:methods[name],writable:true,enumerable:true,configurable:true});
for(const[name,value]of[['controller',null],['ready',never]])Object.defineProperty(ServiceWorkerContainer.prototype,name,{get:()=>value,enumerable:true,configurable:true});
for(const type of['controllerchange','message','messageerror'])container.addEventListener(type,event=>event.stopImmediatePropagation());
})()`.replaceAll('\n', '');

const shim = `<script>${shimScript}</script>`;

/** Increase this version when the shim changes, because the ETags of documents are valid forever. */
const shimVersion = 7;

const scannedBytes = 16 * 1024;

/** @returns the same representation if it is not HTML, or if the browser will save it instead of showing it. */
export async function withWorkerShim(
  representation: Representation,
  signal: AbortSignal,
  trace: Trace,
): Promise<Representation> {
  const { source, etag, headers } = representation;
  const isShown = !headers['Content-Disposition']?.startsWith('attachment');
  if (!isShown || !headers['Content-Type']?.startsWith('text/html')) return representation;
  const start = await source.read(0, Math.min(scannedBytes, source.size), signal, trace);
  return {
    ...representation,
    source: withInsertion(source, shimPosition(start), encodeAscii(shim, encodingOf(start))),
    etag: `${etag.slice(0, -1)}.shim-${shimVersion}"`,
  };
}

/**
 * Returns the beginning of the head. There the shim runs before every script of the site, and the browser builds the
 * same document around it. Before a doctype the shim would cause quirks mode. Before `<html>` or `<head>` it would make
 * the browser drop that tag or its attributes.
 * @param start the first bytes of the document.
 */
export function shimPosition(start: Uint8Array): number {
  const encoding = encodingOf(start);
  const [a, b, c] = start;
  const first = encoding ? 2 : a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0;
  let at = first;
  // All characters have the same number of bytes, so the position of a token gives that of its bytes.
  const decoder = new TextDecoder(encoding ?? 'latin1', { ignoreBOM: true });
  const html = decoder.decode(start.subarray(first));
  const size = encoding ? 2 : 1;
  for (const { kind, name, text, end } of htmlTokens(html)) {
    if (kind === 'doctype' || (kind === 'open' && (name === 'html' || name === 'head')))
      at = first + size * end;
    // A browser creates the head before any other opening tag, before `</br>`, and before text.
    if (kind === 'open' && name !== 'html') break;
    if (kind === 'close' && name === 'br') break;
    if (kind === 'text' && /\S/.test(text)) break;
  }
  return at;
}

/** Undefined for an encoding that contains ASCII. */
function encodingOf([a, b]: Uint8Array): 'utf-16be' | 'utf-16le' | undefined {
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return a === 0xff && b === 0xfe ? 'utf-16le' : undefined;
}

function encodeAscii(text: string, encoding: ReturnType<typeof encodingOf>): Uint8Array {
  const pair = encoding === 'utf-16be' ? '\0$&' : '$&\0';
  return new TextEncoder().encode(encoding ? text.replace(/./g, pair) : text);
}

function withInsertion(source: ByteSource, at: number, bytes: Uint8Array): ByteSource {
  const parts = [slice(source, 0, at), memorySource(bytes), slice(source, at, source.size - at)];
  const within = (start: number, end: number) => {
    let offset = 0;
    return parts.flatMap((part) => {
      const [from, to] = [Math.max(start - offset, 0), Math.min(end - offset, part.size)];
      offset += part.size;
      return to > from ? [{ part, from, to }] : [];
    });
  };
  return {
    size: source.size + bytes.length,
    async read(start, end, signal, trace) {
      const pieces = within(start, end).map(({ part, from, to }) => part.read(from, to, signal, trace));
      const whole = new Uint8Array(end - start);
      let offset = 0;
      for (const piece of await Promise.all(pieces)) {
        whole.set(piece, offset);
        offset += piece.length;
      }
      return whole;
    },
    stream(start, end, signal, trace) {
      const streams = within(start, end).map(
        ({ part, from, to }) =>
          () =>
            part.stream(from, to, signal, trace).getReader(),
      );
      let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
      return new ReadableStream(
        {
          async pull(controller) {
            for (;;) {
              reader ??= streams.shift()?.();
              if (!reader) return controller.close();
              const { done, value } = await reader.read();
              if (!done) return controller.enqueue(value);
              reader = undefined;
            }
          },
          cancel: (reason) => reader?.cancel(reason),
        },
        { highWaterMark: 0 },
      );
    },
    chunks: (start, end) => within(start, end).flatMap(({ part, from, to }) => part.chunks(from, to)),
  };
}
