import { Address } from '../../address.ts';
import { texts } from '../texts/texts.ts';

/** What a user's text opens: a path of this gateway, a whole manifest, or nothing and the reason. */
export type AddressInput = { path: string } | { manifestLink: string } | { problem: string };

export interface AddressInputContext {
  /** The names that this gateway's configuration gives to addresses. */
  names: ReadonlySet<string>;
  /** This gateway's origin, such as `https://gateway.example`. */
  origin: string;
}

/**
 * Reads what was typed or pasted into the address box: `<address>`, `<address>/path`, `ant://<address>`,
 * the same with `autonomi://` or `web+ant:`, `ant://manifest/<base64url>`, a name of this gateway, or the URL of any
 * gateway with an address in it, as a path segment or, in hex or base32, as a label of the host name. What follows the address (path, query, fragment) is kept.
 */
export function parseAddressInput(text: string, { names, origin }: AddressInputContext): AddressInput {
  const { problems } = texts.open;
  // Browsers hand over links of our own kind as they were written: with or without the slashes.
  const input = text.trim().replace(/^(?:web\+ant|autonomi):(?:\/\/)?(?:ant:\/\/)?/i, 'ant://');
  if (input === '') return { problem: problems.empty };
  // Decoded only when it is opened: it can be long, and this runs at every keystroke.
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

/** Splits before the query or fragment, then at slashes. A leading slash is as good as none. */
function splitPath(text: string): { segments: string[]; tail: string } {
  const end = text.search(/[?#]/);
  const path = end < 0 ? text : text.slice(0, end);
  return { segments: path.replace(/^\//, '').split('/'), tail: end < 0 ? '' : text.slice(end) };
}

/** The address in `<base32>.gateway.example` or `<hex>.gateway.example`. */
function addressInHost(host: string): Address | null {
  for (const label of host.replace(/:\d+$/, '').split('.')) {
    if (Address.isHex(label)) return Address.fromHex(label);
    // 260 bits for 256: only these two last characters leave the spare bits clear.
    if (/^[a-z2-7]{51}[aq]$/i.test(label)) return Address.fromBase32(label);
  }
  return null;
}

/** `tail` is a query, a fragment, or both. */
function pathWithin(site: string, segments: readonly string[], tail: string): AddressInput {
  const path = `/${site}${segments.map((segment) => `/${segment}`).join('')}${tail}`;
  // The parser resolves “..”, in all of its spellings, and escapes what a URL cannot hold.
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
