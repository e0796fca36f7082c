import type { ShownView } from './use-view.ts';

export type Verification = 'opening' | 'verified' | 'incomplete' | 'damaged' | 'unknown';

/** Returns the knowledge of the gateway about the bytes that the frame shows. */
export function verificationOf({ page, isKnown }: Pick<ShownView, 'page' | 'isKnown'>): Verification {
  if (!isKnown) return 'unknown';
  if (!page) return 'opening';
  if (page.code === 'CORRUPT' || page.failures.CORRUPT) return 'damaged';
  return failuresOf(page) > 0 ? 'incomplete' : 'verified';
}

/** The number of requests of a page that failed because content was missing or damaged. */
export function failuresOf(page: NonNullable<ShownView['page']>): number {
  const count = Object.values(page.failures).reduce((sum, count) => sum + count, 0);
  return page.code ? Math.max(count, 1) : count;
}
