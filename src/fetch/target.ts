import { Address } from '../address.ts';
import { parseAddressText, pathOf } from '../address-text.ts';
import { wholeManifestOfLink } from '../content/manifest.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import { AntError } from './ant-error.ts';

export interface FetchTarget {
  address: Address;
  /** Possible meanings of the path, most likely first. Undefined if the text has no slash after the address. */
  paths: (string | undefined)[];
  /** With its question mark. Empty if there is none. */
  search: string;
  /** The file name that the text suggests; not checked. */
  filename: string | undefined;
  /** The bytes of a manifest that is complete in the text. */
  manifest: Uint8Array | undefined;
}

const expected = 'An address has 64 hex digits, or 52 characters of base32.';

/**
 * Finds out what a text names. It asks no host: only the caller's names count, also in the URL of a gateway. So `~<name>`
 * and `<name>` are the same.
 * @throws AntError `BAD_ADDRESS`, or `NOT_FOUND` for an unknown name.
 */
export async function targetOf(text: string, names: ReadonlyMap<string, Address>): Promise<FetchTarget> {
  const named = parseAddressText(text);
  if ('problem' in named) {
    const why = named.problem === 'scheme' ? 'is no link to content' : 'has no address and no name';
    throw new AntError('BAD_ADDRESS', `“${shorten(text)}” ${why}. ${expected}`);
  }
  if ('manifest' in named) {
    const manifest = wholeManifestOfLink(`ant://manifest/${named.manifest}`);
    const address = Address.fromBytes((await loadBlake3())(manifest));
    return { address, manifest, ...pathParts(named.rest, true) };
  }
  const { site, rest, isUrl } = named;
  const address = site instanceof Address ? site : names.get(site.replace(/^~/, ''));
  if (address) return { address, manifest: undefined, ...pathParts(rest, isUrl) };
  const name = String(site);
  if (/^(0x)?[0-9a-f]{16,}$/i.test(name) || name.length > 48) {
    throw new AntError('BAD_ADDRESS', `“${shorten(text)}” has no valid address. ${expected}`);
  }
  throw new AntError(
    'NOT_FOUND',
    `“${shorten(name)}” is neither an address nor one of the given names. ${expected}`,
  );
}

/** @throws TypeError for an input of another type. */
export function textOf(input: unknown): string {
  if (typeof input === 'string') return input;
  if (input instanceof URL) return input.href;
  if (input instanceof Request) return input.url;
  throw new TypeError('antFetch: the input must be a string, a URL or a Request.');
}

function pathParts(rest: string, isUrl: boolean): Pick<FetchTarget, 'paths' | 'search' | 'filename'> {
  const search = /^[^?#]*(\?[^#]*)/s.exec(rest)?.[1] ?? '';
  const { paths, filename } = pathOf(rest, isUrl);
  return { paths: rest.startsWith('/') ? paths : [undefined], search, filename };
}

/** Quotes at most the start of a text from a stranger. */
function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
