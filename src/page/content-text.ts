import { Address } from '../address.ts';
import { parseAddressText } from '../address-text.ts';
import { DropInError } from '../drop-in/error.ts';
import type { AntReference } from './types.ts';

/** Content by 64 hex digits or a name, and the rest of its URL. */
export interface ParsedContent {
  id: string;
  rest: string;
}

/**
 * Understands content in the grammar of the command and of `@antway/fetch`.
 * @throws DropInError `BAD_ADDRESS`.
 */
export function namedContent(content: AntReference): ParsedContent {
  const text = content instanceof URL ? content.href : content;
  if (typeof text !== 'string') throw bad('Content is named by a string or a URL.');
  const named = parseAddressText(text);
  if ('manifest' in named) {
    // A URL with the manifest would be sent to a host, and the manifest may contain the only keys of private files.
    throw bad('Add a manifest with addManifest, and use the address that it returns.');
  }
  if ('problem' in named) throw bad(`“${text.slice(0, 200)}” is not a content address.`);
  const { site, rest } = named;
  return { id: site instanceof Address ? site.hex : site, rest };
}

function bad(message: string): DropInError {
  return new DropInError('BAD_ADDRESS', message);
}
