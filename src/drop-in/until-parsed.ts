import { page } from './dom.ts';

/** Resolves when the parser is done with the document, and what it holds is whole. */
export async function untilParsed(): Promise<void> {
  if (page.readyState !== 'loading') return;
  await new Promise((resolve) => page.addEventListener('DOMContentLoaded', resolve, { once: true }));
}
