import type { Site } from '../../library/library.ts';
import { formatBytes } from '../format.ts';
import { texts } from '../texts/texts.ts';

/** The size of a site. If chunks are missing, the total is an estimate, and the text has the stored part too. */
export function sizeText({ chunks, bytes: { stored, total } }: Pick<Site, 'chunks' | 'bytes'>): string {
  const t = texts.library;
  if (!chunks.total || total === null) return t.stored(formatBytes(stored));
  if (chunks.stored >= chunks.total) return formatBytes(total);
  return t.ofTotal(formatBytes(stored), formatBytes(Math.max(total, stored)));
}
