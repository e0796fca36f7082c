import type { Address } from '../../address.ts';
import { type ContentTarget, encodePath } from './target.ts';

export interface LocatedTarget extends ContentTarget {
  /** Differs from the target's address for a pointer. */
  content: Address;
  isMutable: boolean;
}

/** The ETag is unique per content, format and path. Two members, or a page and its JSON, never share an ETag. */
export function etagOf({ content }: LocatedTarget, format: string, path = ''): string {
  return `"${content.hex}.${format}${path && `:${encodePath(path)}`}"`;
}

export function caching(target: LocatedTarget): Record<string, string> {
  const { path } = target;
  return {
    'Cache-Control': cacheControl(target),
    // The response for a folder is its document or JSON, depending on `Accept`.
    ...(path === '' || path?.endsWith('/') ? { Vary: 'Accept' } : {}),
  };
}

/** A chunk never changes. A name may get another address tomorrow, and a pointer may get another target at any time. */
export function cacheControl({ name, isMutable }: LocatedTarget): string {
  if (isMutable) return 'public, no-cache';
  return name === undefined ? 'public, max-age=31536000, immutable' : 'public, max-age=60';
}
