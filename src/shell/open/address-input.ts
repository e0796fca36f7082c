import { Address } from '../../address.ts';
import { texts } from '../texts/texts.ts';

/** The meaning of a user's text: a path of this gateway, a complete manifest, or a problem. */
type AddressInput = { path: string } | { manifestLink: string } | { problem: string };

interface AddressInputContext {
  names: ReadonlySet<string>;
  /** This gateway's origin, such as `https://gateway.example`. */
  origin: string;
}

/**
 * Parses text from the address box: `<address>`, `<address>/path`, `ant://<address>`, the same with `autonomi://` or
 * `web+ant:`, `ant://manifest/<base64url>`, a name of this gateway, or the URL of any gateway with an address. The
 * address can be a path segment or, in hex or base32, a label of the host name. The result includes the rest after the
 * address (path, query, fragment).
 */
export function parseAddressInput(text: string, { names, origin }: AddressInputContext): AddressInput {
  const { problems } = texts.open;
  // Browsers pass protocol links unchanged, with or without the slashes.
  const input = text.trim().replace(/^(?:web\+ant|autonomi):(?:\/\/)?(?:ant:\/\/)?/i, 'ant://');
  if (input === '') return { problem: problems.empty };
  // Decode the manifest only when it is opened: it can be long, and this function runs on every keystroke.
  if (/^ant:\/\/manifest\//i.test(input)) return { manifestLink: input };

  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(input);
  const afterScheme = input.slice(scheme?.[0].length ?? 0);
  const isWeb = /^https?$/i.test(scheme?.[1] ?? '');
  if (scheme && !isWeb && scheme[1]!.toLowerCase() !== 'ant') {
    return { problem: problems.scheme(scheme[0]) };
  }

  const { segments, tail } = splitPath(afterScheme);
  const at = segments.findIndex((segment) => Address.isHex(segment));
  if (at >= 0) return pathWithin(segments[at]!.toLowerCase(), segments.slice(at + 1), tail);

  if (isWeb || segments[0]!.includes('.')) {
    const address = addressInHost(segments[0]!);
    if (address) return pathWithin(address.hex, segments.slice(1), tail);
  }
  if (isWeb && URL.canParse(input) && new URL(input).origin === origin) segments.shift();
  else if (isWeb) return { problem: problems.noAddress };

  const [first = '', ...rest] = segments;
  if (names.has(first)) return pathWithin(first, rest, tail);
  return { problem: problemOf(first) };
}

/** Splits off the query and fragment, then splits the path at slashes. Ignores a leading slash. */
function splitPath(text: string): { segments: string[]; tail: string } {
  const end = text.search(/[?#]/);
  const path = end < 0 ? text : text.slice(0, end);
  return { segments: path.replace(/^\//, '').split('/'), tail: end < 0 ? '' : text.slice(end) };
}

/** The address in `<base32>.gateway.example` or `<hex>.gateway.example`. */
function addressInHost(host: string): Address | null {
  for (const label of host.replace(/:\d+$/, '').split('.')) {
    if (Address.isHex(label)) return Address.fromHex(label);
    // 52 characters are 260 bits for a 256-bit address. The last character must leave the four spare bits zero.
    if (/^[a-z2-7]{51}[aq]$/i.test(label)) return Address.fromBase32(label);
  }
  return null;
}

/** @param tail a query, a fragment, or both. */
function pathWithin(site: string, segments: readonly string[], tail: string): AddressInput {
  const path = `/${site}${segments.map((segment) => `/${segment}`).join('')}${tail}`;
  // The URL parser resolves “..” in all of its spellings, and escapes invalid characters.
  const url = new URL(path, 'https://gateway.invalid');
  if (url.pathname !== `/${site}` && !url.pathname.startsWith(`/${site}/`)) {
    return { problem: texts.open.problems.outside };
  }
  return { path: url.pathname + url.search + url.hash };
}

function problemOf(text: string): string {
  const { problems } = texts.open;
  if (text === '') return problems.noAddress;
  if (/^[0-9a-f]{16,}$/i.test(text)) {
    return problems.digits(text.length);
  }
  if (text.length === 64) {
    return problems.character(/[^0-9a-f]/i.exec(text)![0]);
  }
  if (text.length > 40) return problems.long;
  return problems.neither(text);
}
