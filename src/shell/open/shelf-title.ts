import type { Site } from '../../library/library.ts';
import { decodePath } from '../format.ts';
import { sanitizeLine } from '../sanitize-line.ts';
import { shelfTexts } from '../texts/later.ts';

/**
 * A site's title, its name, or the name of its file that was read. A site without these is described by its kind: hex digits
 * tell a user nothing.
 */
export function shelfTitle({ title, name, kind, reader = '', isManifest }: Site): string {
  const { untitled } = shelfTexts();
  const own = sanitizeLine(title ?? '') || name || sanitizeLine(decodePath(/[^/]*\/?$/.exec(reader)![0]));
  return own || (isManifest ? untitled.manifest : untitled[kind]);
}
