import { CssLinks } from './css-links.ts';
import { HtmlLinks } from './html-links.ts';
import type { LinkScanner, LinkTargets } from './link-map.ts';

export type LinkedType = 'html' | 'css';

interface Edit {
  start: number;
  end: number;
  replacement: Uint8Array;
}

const encoder = new TextEncoder();
/** Maps each byte to one character, so that positions of characters are positions of bytes. */
const bytewise = new TextDecoder('latin1');

export function bytesAsText(bytes: Uint8Array): string {
  return bytewise.decode(bytes);
}

/**
 * Replaces content addresses in a document that arrives in pieces. Every other byte stays. The result does not depend on
 * the pieces. Holds back at most one token (`limits.linkTokenBytes`); a longer token passes unchanged.
 */
export class LinkRewriter {
  readonly #scanner: LinkScanner;
  #edits: Edit[] = [];
  /** The bytes that are not settled, and the position of the first of them. */
  #held: Uint8Array = new Uint8Array();
  #at = 0;
  #count = 0;

  constructor(type: LinkedType, targets: LinkTargets) {
    const onEdit = (start: number, end: number, replacement: string) => {
      this.#count++;
      this.#edits.push({ start, end, replacement: encoder.encode(replacement) });
    };
    this.#scanner = type === 'html' ? new HtmlLinks(targets, onEdit) : new CssLinks(targets, onEdit);
  }

  /** How many links were replaced. */
  get count(): number {
    return this.#count;
  }

  write(bytes: Uint8Array): Uint8Array {
    this.#scanner.write(bytesAsText(bytes));
    return this.#release(joined([this.#held, bytes]), this.#scanner.settled);
  }

  end(): Uint8Array {
    this.#scanner.end();
    return this.#release(this.#held, this.#at + this.#held.length);
  }

  #release(bytes: Uint8Array, settled: number): Uint8Array {
    const parts: Uint8Array[] = [];
    let at = 0;
    for (const { start, end, replacement } of this.#edits) {
      parts.push(bytes.subarray(at, start - this.#at), replacement);
      at = end - this.#at;
    }
    this.#edits = [];
    parts.push(bytes.subarray(at, settled - this.#at));
    this.#held = bytes.slice(settled - this.#at);
    this.#at = settled;
    return joined(parts);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const filled = parts.filter(({ length }) => length > 0);
  if (filled.length <= 1) return filled[0] ?? new Uint8Array();
  const whole = new Uint8Array(filled.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of filled) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Reads only as the consumer reads. If `source` fails, the result fails. */
export function rewriteStream(
  source: ReadableStream<Uint8Array>,
  rewriter: LinkRewriter,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          const bytes = done ? rewriter.end() : rewriter.write(value);
          if (bytes.length > 0) controller.enqueue(bytes);
          if (done) return controller.close();
          if (bytes.length > 0) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
