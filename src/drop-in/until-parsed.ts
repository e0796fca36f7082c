import { page } from './dom.ts';

export async function untilParsed(): Promise<void> {
  if (page.readyState !== 'loading') return;
  await new Promise((resolve) => page.addEventListener('DOMContentLoaded', resolve, { once: true }));
}
