import { memorySource } from '../../content/byte-source.ts';
import { limits } from '../../limits.ts';
import type { Trace } from '../../stats/trace.ts';
import type { Representation } from '../http/representation.ts';
import { type LinkTargets, mayHoldLinks } from './link-map.ts';
import { bytesAsText, type LinkedType, LinkRewriter } from './link-rewriter.ts';

/** Increase this version when the rewriting changes, because the ETags of documents are valid forever. */
const rewriterVersion = 1;

/**
 * Rewrites content addresses in HTML and CSS. Works on bytes, so every encoding that contains ASCII is preserved.
 * @returns the same representation for other types, for UTF-16, for downloads, for pages of the gateway, and for a
 *   document up to `limits.streamPieceBytes` without such addresses. A longer document is rewritten while it streams.
 */
export async function withLinks(
  representation: Representation,
  targets: LinkTargets,
  signal: AbortSignal,
  trace: Trace,
): Promise<Representation> {
  const { source, etag, headers, isOwnPage } = representation;
  const type = linkedTypeOf(headers);
  if (!type || isOwnPage) return representation;
  const isLong = source.size > limits.streamPieceBytes;
  const bytes = await source.read(0, isLong ? 2 : source.size, signal, trace);
  if (isUtf16(bytes)) return representation;
  const rewritten = {
    etag: `${etag.slice(0, -1)}.links-${rewriterVersion}${targets.version}"`,
    isRewritten: true,
  };
  if (isLong) return { ...representation, ...rewritten, rewriter: () => new LinkRewriter(type, targets) };
  if (!mayHoldLinks(bytesAsText(bytes))) return representation;
  const rewriter = new LinkRewriter(type, targets);
  const parts = [rewriter.write(bytes), rewriter.end()];
  if (rewriter.count === 0) return representation;
  const whole = new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
  return { ...representation, ...rewritten, source: memorySource(whole) };
}

function linkedTypeOf(headers: Record<string, string>): LinkedType | undefined {
  if (headers['Content-Disposition']?.startsWith('attachment')) return undefined;
  return /^text\/(html|css)\b/.exec(headers['Content-Type'] ?? '')?.[1] as LinkedType | undefined;
}

/** The types of text say “UTF-8”, and only a byte order mark overrides that. */
function isUtf16([a, b]: Uint8Array): boolean {
  return (a === 0xfe && b === 0xff) || (a === 0xff && b === 0xfe);
}
