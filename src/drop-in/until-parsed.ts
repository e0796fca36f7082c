import { page } from './dom.ts';

/** Resolves when the parser has finished the document. */
export async function untilParsed(): Promise<void> {
  if (page.readyState !== 'loading') return;
  await new Promise((resolve) => page.addEventListener('DOMContentLoaded', resolve, { once: true }));
}
