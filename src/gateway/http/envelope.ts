import { type ByteSource, memorySource } from '../../content/byte-source.ts';
import { limits } from '../../limits.ts';
import type { Trace } from '../../stats/trace.ts';

/** The content of an envelope (`{"v":1,"meta":{"title","lang"},"content"}`), which text editors of the network write. */
export interface Envelope {
  source: ByteSource;
  /** Without an extension; may be empty. */
  title: string;
  extension: 'json' | 'md' | 'txt';
}

/** The programs that write envelopes write the version first. */
const beginning = /^\s*\{\s*"v"\s*:\s*1\s*,/;
const beginningBytes = 64;

/** The other languages are shown as text: `html` means the source of a page, not a page. */
const extensions = new Map<unknown, Envelope['extension']>([
  ['json', 'json'],
  ['markdown', 'md'],
  ['md', 'md'],
]);

/** @returns undefined if the file is no envelope. */
export async function openEnvelope(
  source: ByteSource,
  signal: AbortSignal,
  trace: Trace,
): Promise<Envelope | undefined> {
  if (source.size > limits.envelopeBytes) return undefined;
  const start = await source.read(0, Math.min(beginningBytes, source.size), signal, trace);
  if (!beginning.test(new TextDecoder().decode(start))) return undefined;
  try {
    const bytes = await source.read(0, source.size, signal, trace);
    const { v, meta, content } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (v !== 1 || typeof content !== 'string' || typeof meta !== 'object' || meta === null) return undefined;
    const { title, lang } = meta;
    const inner = memorySource(new TextEncoder().encode(content));
    return {
      source: { ...inner, chunks: () => source.chunks(0, source.size) },
      // Bidirectional marks could disguise the name of a downloaded file.
      title:
        typeof title === 'string'
          ? title
              .replace(/[\p{Cc}\p{Cf}/\\]/gu, ' ')
              .trim()
              .slice(0, 100)
          : '',
      extension: extensions.get(lang) ?? 'txt',
    };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
